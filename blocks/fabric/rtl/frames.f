-f ../../stream/rtl/stream.f
pst_frame_segment.sv
pst_frame_reassemble.sv
