-f ../../common/rtl/common.f
pst_frame_segment.sv
pst_frame_reassemble.sv
