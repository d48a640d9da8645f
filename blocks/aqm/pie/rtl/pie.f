-f ../../rtl/aqm_part.f
pst_pie_pkg.sv
pst_pie_update.sv
pst_pie.sv
