// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Which memory gives its page to which port: as many pages in a cycle as there are ports.
//
// A request gets a page of the smallest size that holds the frame and of which a memory offers one, among the memories that it names. Ports
// have turns, and in each page size so have memories: the first port of those that take this size gets the page of the first memory that
// offers one, the second that of the second. When no memory offers a page that will do, this is decided at once.
//
// Latency:    none: outputs follow from inputs and turns.
// Throughput: in each size as many pages in a cycle as there are requests or memories that offer one, whatever is less; fewer when requests
//             name different memories of one size.
// Ordering:   a request that stands waits for at most one round of the others: it is decided after Ports - 1 cycles at the latest.
// Reset:      the first port and the first memory have the first turn.
module pst_page_choice
  import pst_memory_pkg::pages_t;
#(
    parameter int unsigned               Ports        = 1,                     // >= 1
    parameter int unsigned               Memories     = 1,                     // 1..32
    parameter logic [Memories-1:0][31:0] MemPageBytes = {Memories{32'd2048}}   // page size
) (
    input  logic                           clk_i,
    input  logic                           rst_i,
    // requests: frame length in bytes, memories that may give a page. They stand until they are decided.
    input  logic [Ports-1:0]               req_valid_i,
    input  pst_pkg::len_t [Ports-1:0]      req_len_i,
    input  logic [Ports-1:0][Memories-1:0] req_memories_i,
    // memories that offer a page
    input  logic [Memories-1:0]            offer_i,
    // requests that are decided in this cycle, and whose page each one gets: of none: "no page"
    output logic [Ports-1:0]               decided_o,
    output logic [Ports-1:0][Memories-1:0] winner_o
);

  localparam pages_t      Ranks     = pst_memory_pkg::size_ranks(pages_t'(MemPageBytes), Memories);  // of the memories' page sizes
  localparam int unsigned Sizes     = pst_memory_pkg::page_sizes(pages_t'(MemPageBytes), Memories);
  localparam int unsigned TurnWidth = $clog2(Memories + Ports + 1);  // places in a turn

  typedef logic [TurnWidth-1:0] place_t;

  // later[k]: k comes after the one that was served last (of memories: of its size), so it is before the others in turn.
  logic [Memories-1:0] memory_later_d, memory_later_q;
  logic [Ports-1:0] port_later_d, port_later_q;

  logic [Memories-1:0][Memories-1:0] memory_before;  // [m][k]: k has pages of m's size, and is before m in turn
  logic [Ports-1:0][Ports-1:0] port_before;
  logic [Ports-1:0][Memories-1:0] fits, able, hit;
  logic [Ports-1:0][Sizes-1:0] size;  // the size that a port takes, one bit; none: there is no page for it
  place_t [Ports-1:0] place;          // among the ports that take the same size
  logic [Ports-1:0] clash, waits;
  logic [Memories-1:0] given;

  always_comb begin
    memory_before = '0;
    for (int unsigned m = 0; m < Memories; m++) begin
      for (int unsigned k = 0; k < Memories; k++) begin
        if (k != m && Ranks[k] == Ranks[m]) memory_before[m][k] = memory_later_q[k] == memory_later_q[m] ? k < m : memory_later_q[k];
      end
    end
    port_before = '0;
    for (int unsigned p = 0; p < Ports; p++) begin
      for (int unsigned q = 0; q < Ports; q++) begin
        if (q != p) port_before[p][q] = port_later_q[q] == port_later_q[p] ? q < p : port_later_q[q];
      end
    end
  end

  // The smallest size with a page for the frame, and the memories that could give it.
  always_comb begin
    fits = '0;
    size = '0;
    able = '0;
    for (int unsigned p = 0; p < Ports; p++) begin
      for (int unsigned m = 0; m < Memories; m++) begin
        fits[p][m] = offer_i[m] && req_memories_i[p][m] && 32'(req_len_i[p]) <= MemPageBytes[m];
        if (fits[p][m]) size[p][Ranks[m]] = 1'b1;
      end
      size[p] = size[p] & (~size[p] + 1'b1);
      for (int unsigned m = 0; m < Memories; m++) able[p][m] = fits[p][m] && size[p][Ranks[m]];
    end
  end

  // Port and memory meet that have the same place in turn.
  always_comb begin
    place = '0;
    hit   = '0;
    for (int unsigned p = 0; p < Ports; p++) begin
      for (int unsigned q = 0; q < Ports; q++) begin
        if (port_before[p][q] && req_valid_i[q] && (size[q] & size[p]) != '0) place[p] += 1'b1;
      end
      for (int unsigned m = 0; m < Memories; m++) begin
        hit[p][m] = able[p][m] && (Ports == 1 ? (able[p] & memory_before[m]) == '0
                                              : place_t'($countones(able[p] & memory_before[m])) == place[p]);
      end
    end
    // Requests that name different memories may meet at one: the first in turn gets its page.
    clash = '0;
    for (int unsigned p = 0; p < Ports; p++) begin
      for (int unsigned q = 0; q < Ports; q++) begin
        if (port_before[p][q] && req_valid_i[q] && (hit[q] & hit[p]) != '0) clash[p] = 1'b1;
      end
      winner_o[p]  = req_valid_i[p] && !clash[p] ? hit[p] : '0;
      decided_o[p] = req_valid_i[p] && (size[p] == '0 || winner_o[p] != '0);
    end
  end

  assign waits = req_valid_i & ~decided_o;

  // The next turns begin behind the last memory that gave a page, and at the first port that has to wait.
  always_comb begin
    given = '0;
    for (int unsigned p = 0; p < Ports; p++) given |= winner_o[p];
    memory_later_d = memory_later_q;
    for (int unsigned m = 0; m < Memories; m++) begin
      logic last;  // of those of its size that give a page
      last = given[m];
      for (int unsigned k = 0; k < Memories; k++) if (given[k] && memory_before[k][m]) last = 1'b0;
      if (last) for (int unsigned k = 0; k < Memories; k++) if (Ranks[k] == Ranks[m]) memory_later_d[k] = k > m;
    end
    port_later_d = port_later_q;
    for (int unsigned p = 0; p < Ports; p++) begin
      if (waits[p] && (waits & port_before[p]) == '0) for (int unsigned q = 0; q < Ports; q++) port_later_d[q] = q >= p;
    end
  end

  always_ff @(posedge clk_i) begin
    memory_later_q <= memory_later_d;
    port_later_q   <= port_later_d;
    if (rst_i) begin
      memory_later_q <= '0;
      port_later_q   <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_one_alone_never_waits : assert (!$onehot(req_valid_i) || waits == '0) else $error("pst_page_choice: a port waits alone");
      for (int unsigned p = 0; p < Ports; p++) begin
        a_one_page : assert ($onehot0(winner_o[p])) else $error("pst_page_choice: port %0d gets two pages", p);
        for (int unsigned q = 0; q < p; q++) begin
          a_one_port : assert ((winner_o[p] & winner_o[q]) == '0) else $error("pst_page_choice: ports %0d and %0d get one page", p, q);
        end
      end
    end
  end
`endif

endmodule
