"""Environments in processes: Stable-Baselines3 2.9 (`common/vec_env/subproc_vec_env.py`) and Gymnasium 1.4
(`vector/async_vector_env.py`).

Each process is daemonic, calls one of the functions, and gets it by cloudpickle.
"""

from dllint.libraries.facets import LauncherApi, Library

_FUNCTIONS = LauncherApi("env_fns", ("env_fns", "start_method"), args="", kwargs="", daemonic=True, by_value=True)

LIBRARY = Library(
    aliases={
        **dict.fromkeys(
            (
                "stable_baselines3.common.vec_env.subproc_vec_env.SubprocVecEnv",
                "stable_baselines.common.vec_env.SubprocVecEnv",
                "stable_baselines.common.vec_env.subproc_vec_env.SubprocVecEnv",
            ),
            "stable_baselines3.common.vec_env.SubprocVecEnv",
        ),
        **dict.fromkeys(
            ("gymnasium.vector.async_vector_env.AsyncVectorEnv", "gym.vector.AsyncVectorEnv"),
            "gymnasium.vector.AsyncVectorEnv",
        ),
    },
    launchers={
        "stable_baselines3.common.vec_env.SubprocVecEnv": _FUNCTIONS._replace(
            method="=start_method", fallback="forkserver"
        ),
        "gymnasium.vector.AsyncVectorEnv": _FUNCTIONS._replace(
            params=("env_fns", "shared_memory", "copy", "context"), method="=context"
        ),
    },
)
