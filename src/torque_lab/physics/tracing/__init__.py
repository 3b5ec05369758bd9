"""
Tracing and compilation: from a law in Python to machine code for one robot.

A law runs once over scalars that record (`expression`), which leaves a graph (`graph`) as a
function (`function`); the emitter writes it as LLVM text (`emitter`, `trigonometry`), the engine
compiles it (`engine`), and it is called from Python at little cost (`python_function`).
"""
