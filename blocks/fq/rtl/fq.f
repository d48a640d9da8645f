-f ../../common/rtl/common.f
../../parse/rtl/pst_parse_pkg.sv
pst_fq_pkg.sv
pst_fq_ports_pkg.sv
pst_fq_hash.sv
pst_fq_find.sv
pst_fq_flows.sv
pst_fq_lists.sv
pst_fq_hosts.sv
pst_fq_lane.sv
pst_fq.sv
