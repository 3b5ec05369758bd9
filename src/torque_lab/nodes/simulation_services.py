"""
Control of the simulation by services.

The same actions are offered through ``std_srvs`` always, and through the standard
``simulation_interfaces`` where that package is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from rclpy.node import Node
from std_srvs.srv import Trigger

try:
    from simulation_interfaces.msg import Result, SimulationState, SimulatorFeatures
    from simulation_interfaces.srv import (
        GetSimulationState,
        GetSimulatorFeatures,
        ResetSimulation,
        SetSimulationState,
        StepSimulation,
    )
    STANDARD = True
except ImportError:
    STANDARD = False

MOST_STEPS = 100_000
"""Steps in one call: more would keep the node from its messages for too long."""


class Actions(Protocol):
    """What a simulator lets others do with it; each returns (done, what to say)."""

    @property
    def paused(self) -> bool:
        """Whether time stands still by request."""
        ...

    def pause(self) -> tuple[bool, str]:
        """Let time stand still."""
        ...

    def resume(self) -> tuple[bool, str]:
        """Let time pass."""
        ...

    def step(self, periods: int) -> tuple[bool, str]:
        """Pass some periods while paused."""
        ...

    def reset(self, state: bool = True, time: bool = True) -> tuple[bool, str]:
        """Go back to the initial state, to time zero, or both."""
        ...

    def quit(self) -> tuple[bool, str]:
        """End the node."""
        ...


def offer(node: Node, actions: Actions) -> None:
    """Create the services on a node."""
    for name, act in {'pause': actions.pause, 'resume': actions.resume,
                      'step': lambda: actions.step(1), 'reset': actions.reset,
                      'reset_state': lambda: actions.reset(time=False)}.items():
        node.create_service(Trigger, f'~/{name}', _trigger(act))
    if STANDARD:
        _StandardServices(node, actions)


def _trigger(act: Callable[[], tuple[bool, str]]) -> Callable[..., Trigger.Response]:
    def answer(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = act()
        return response
    return answer


class _StandardServices:
    """``simulation_interfaces`` on top of the same actions."""

    def __init__(self, node: Node, actions: Actions) -> None:
        self._actions = actions
        self._stopped = False
        node.create_service(ResetSimulation, '~/reset_simulation', self._reset)
        node.create_service(StepSimulation, '~/step_simulation', self._step)
        node.create_service(GetSimulationState, '~/get_simulation_state', self._get_state)
        node.create_service(SetSimulationState, '~/set_simulation_state', self._set_state)
        node.create_service(GetSimulatorFeatures, '~/get_simulator_features', self._features)

    def _reset(self, request: Any, response: Any) -> Any:
        scope = request.scope or ResetSimulation.Request.SCOPE_ALL
        state = bool(scope & ResetSimulation.Request.SCOPE_STATE)
        time = bool(scope & ResetSimulation.Request.SCOPE_TIME)
        if not (state or time):
            response.result = Result(result=Result.RESULT_FEATURE_UNSUPPORTED,
                                     error_message='nothing is spawned here; scopes are 1 '
                                                   '(time), 2 (state) and 255 (all)')
        else:
            response.result = self._result(*self._actions.reset(state=state, time=time))
        return response

    def _step(self, request: Any, response: Any) -> Any:
        if request.steps > MOST_STEPS:
            response.result = self._result(False, f'{request.steps} steps are more than the '
                                                  f'{MOST_STEPS} of one call')
        else:
            response.result = self._result(*self._actions.step(int(request.steps)))
        return response

    def _get_state(self, request: Any, response: Any) -> Any:
        response.state.state = self._state()
        response.result = Result(result=Result.RESULT_OK)
        return response

    def _set_state(self, request: Any, response: Any) -> Any:
        target = request.state.state
        if target == self._state():
            response.result = Result(
                result=SetSimulationState.Response.ALREADY_IN_TARGET_STATE,
                error_message='already in that state')
            return response
        acts = {SimulationState.STATE_PLAYING: self._actions.resume,
                SimulationState.STATE_PAUSED: self._actions.pause,
                SimulationState.STATE_STOPPED: self._stop,
                SimulationState.STATE_QUITTING: self._actions.quit}
        if target not in acts:
            response.result = self._result(False, f'no state {target} here')
            return response
        response.result = self._result(*acts[target]())
        self._stopped = target == SimulationState.STATE_STOPPED
        return response

    def _stop(self) -> tuple[bool, str]:
        self._actions.pause()
        return self._actions.reset()

    def _state(self) -> int:
        if not self._actions.paused:
            self._stopped = False
            return SimulationState.STATE_PLAYING
        return SimulationState.STATE_STOPPED if self._stopped else SimulationState.STATE_PAUSED

    def _features(self, request: Any, response: Any) -> Any:
        features = SimulatorFeatures
        response.features.features = [
            features.SIMULATION_RESET, features.SIMULATION_RESET_TIME,
            features.SIMULATION_RESET_STATE, features.SIMULATION_STATE_GETTING,
            features.SIMULATION_STATE_SETTING, features.SIMULATION_STATE_PAUSE,
            features.STEP_SIMULATION_SINGLE, features.STEP_SIMULATION_MULTIPLE]
        response.features.custom_info = 'torque_lab dynamics node; one step is one state period'
        return response

    @staticmethod
    def _result(done: bool, message: str) -> Any:
        code = Result.RESULT_OK if done else Result.RESULT_OPERATION_FAILED
        return Result(result=code, error_message='' if done else message)
