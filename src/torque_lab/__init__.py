"""Arms from URDF files: their physics, their simulation and their control."""
