"""
LLVM through llvmlite: from module text to a machine-code address.

Works with every llvmlite from 0.42 on, whichever pointers and pass managers it has: the code comes
out of the emitter folded and shared, so it goes to the code generator as it is.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any

_LOCK = threading.Lock()


class MachineCode:
    """Compiled functions of one module; they exist as long as this object does."""

    def __init__(self, engine: Any, names: tuple[str, ...]) -> None:
        self._engine = engine
        self.addresses = {name: engine.get_function_address(name) for name in names}


def available() -> bool:
    """Whether llvmlite can be imported and has a compiler for this machine."""
    try:
        return _target() is not None
    except Exception:  # whatever ails the compiler, the plain path works
        return False


def pointer() -> str:
    """
    Type of a pointer to doubles in LLVM's text, which has changed over the versions.

    LLVM 15 knows both kinds, but llvmlite keeps it to the old ones.
    """
    import llvmlite.binding as llvm
    return 'ptr' if llvm.llvm_version_info[0] >= 16 else 'double*'


def lanes() -> int:
    """How many doubles this machine's vector registers hold."""
    features = _target()[1]
    if '+avx512f' in features:
        return 8
    return 4 if '+avx' in features else 2


def compile_module(text: str, *names: str) -> MachineCode:
    """Machine code of some functions in a module given as text."""
    import llvmlite.binding as llvm
    _target()
    with _LOCK:
        module = llvm.parse_assembly(text)
        module.verify()
        engine = llvm.create_mcjit_compiler(module, _target_machine())
        engine.finalize_object()
        return MachineCode(engine, names)


@lru_cache(maxsize=1)
def _target() -> tuple[str, str]:
    """CPU name and its features."""
    import llvmlite.binding as llvm
    if hasattr(llvm, 'initialize') and llvm.llvm_version_info[0] < 20:
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _target_machine() -> Any:
    import llvmlite.binding as llvm
    cpu, features = _target()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=2, jit=True)
