-f fabric.f
-f islip.f
-f frames.f
pst_frame_switch.sv
