-f ../../stream/rtl/stream.f
../../memory/rtl/pst_ram_1r1w.sv
pst_sched_lists.sv
pst_wheel_when.sv
pst_timing_wheel.sv
pst_shaper_increment.sv
pst_shaper.sv
pst_outstanding.sv
pst_send_ahead.sv
pst_schedule_shaped.sv
pst_schedule_passthrough.sv
pst_schedule_own.sv
pst_schedule.sv
