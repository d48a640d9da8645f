-f ../../common/rtl/common.f
pst_sched_lists.sv
pst_wheel_when.sv
pst_timing_wheel.sv
pst_shaper_increment.sv
pst_shaper.sv
