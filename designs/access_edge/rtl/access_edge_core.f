-f ../../../blocks/queue/rtl/queue.f
-f ../../../blocks/fq/rtl/fq.f
-f ../../../blocks/schedule/rtl/schedule.f
-f ../../../blocks/aqm/rtl/aqm.f
-f ../../../blocks/hierarchy/rtl/hierarchy.f
../../../blocks/lookup/rtl/pst_lookup_pkg.sv
../../../blocks/parse/rtl/pst_parse_pkg.sv
../../../blocks/profile/rtl/pst_profile_pkg.sv
pst_access_edge_ports_pkg.sv
pst_access_edge_flows.sv
pst_access_edge_arrivals.sv
pst_access_edge_judge.sv
pst_access_edge_core.sv
