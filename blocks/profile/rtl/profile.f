-f ../../common/rtl/common.f
-f ../../stream/rtl/stream.f
-f ../../parse/rtl/parse.f
-f ../../lookup/rtl/lookup.f
pst_profile_pkg.sv
pst_profile.sv
pst_subscriber.sv
pst_event_counts.sv
pst_find_queue.sv
