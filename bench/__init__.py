"""Our speed and accuracy beside other simulators, on the same URDF files, in one run."""
