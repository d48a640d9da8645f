// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python: PagePools(pages=[...], page_bytes=[...]), .PageAdmission(queues, pages, page_bytes, classes)
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "blocks/memory/model/page_admission.hpp"
#include "blocks/memory/model/page_pools.hpp"

namespace penstock {

NB_MODULE(blocks_memory_model, m) {
    namespace nb = nanobind;
    nb::class_<PagePools>(m, "PagePools", "Which page a frame gets: the model of pst_page_pools. Pages and page sizes per memory.")
        .def(nb::init<const std::vector<std::uint32_t>&, std::vector<std::uint32_t>>(), nb::arg("pages"), nb::arg("page_bytes"))
        .def("allocate", &PagePools::allocate, nb::arg("len"), "Descriptor for a frame of `len` bytes, or None.")
        .def("free", &PagePools::free, nb::arg("desc"), "Give a descriptor back; ValueError when it is not held.")
        .def("free_pages", &PagePools::free_pages, nb::arg("memory"), "Free pages of one memory.")
        .def("memory_of", &PagePools::memory_of, nb::arg("desc"), "Memory that holds a descriptor.")
        .def_prop_ro("descriptors", &PagePools::descriptors, "Pages of all memories.");
    nb::class_<PageAdmission::Verdict>(m, "AdmissionVerdict", "What pst_page_admission has decided of a frame.")
        .def_ro("size", &PageAdmission::Verdict::size, "Rank of its page's size, 0 is the smallest; -1: refused.")
        .def_ro("no_share", &PageAdmission::Verdict::no_share, "Refused, although there was a page that was large enough.")
        .def_ro("cls", &PageAdmission::Verdict::cls, "The class for which it was decided.");
    nb::class_<PageAdmission>(m, "PageAdmission", "Who may have a page: the model of pst_page_admission, whose cycles `now` are.")
        .def(nb::init<std::uint32_t, const std::vector<std::uint32_t>&, const std::vector<std::uint32_t>&, unsigned>(), nb::arg("queues"),
             nb::arg("pages"), nb::arg("page_bytes"), nb::arg("classes"))
        .def("decide", &PageAdmission::decide, nb::arg("queue"), nb::arg("length"), nb::arg("now"), "The decision of a frame.")
        .def("given", &PageAdmission::given, nb::arg("descriptor"), nb::arg("queue"), nb::arg("cls"), "An admitted frame got this page.")
        .def("free", &PageAdmission::free, nb::arg("descriptor"), nb::arg("now"), "A page goes back to the pools.")
        .def("set_class", &PageAdmission::set_class, nb::arg("queue"), nb::arg("cls"), nb::arg("now"), "Class of a queue.")
        .def("set_share", &PageAdmission::set_share, nb::arg("cls"), nb::arg("size"), nb::arg("alpha"), nb::arg("reserved"), nb::arg("now"),
             "Alpha of a class, as n of 2^(n - 4), and its reserved pages of a size.")
        .def("advance", &PageAdmission::advance, nb::arg("now"), "All that happens before cycle `now`.")
        .def("free_pages", &PageAdmission::free_pages, nb::arg("size"), "Free pages of a size.")
        .def("used", &PageAdmission::used, nb::arg("cls"), nb::arg("size"), "Pages of a size that a class holds.")
        .def("reserved", &PageAdmission::reserved, nb::arg("cls"), nb::arg("size"), "Pages that are reserved by now.")
        .def("held", &PageAdmission::held, nb::arg("queue"), "Pages that a queue holds, as the latest decision saw it.")
        .def_prop_ro("sizes", &PageAdmission::sizes, "Number of page sizes.");
}

}  // namespace penstock
