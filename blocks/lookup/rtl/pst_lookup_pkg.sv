// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the modules of the lookup block agree on.
package pst_lookup_pkg;

  localparam int unsigned Tables = 4;   // one place for a key in each

  typedef enum logic [1:0] {
    OpInsert = 2'd0,                    // a key that is there gets the new value
    OpDelete = 2'd1,
    OpRead   = 2'd2                     // changes nothing, and gives the value of a key that is there
  } op_e;

  typedef enum logic [2:0] {
    DoneAdded    = 3'd0,
    DoneReplaced = 3'd1,                // the key was there, its value is the new one
    DoneDeleted  = 3'd2,
    DoneAbsent   = 3'd3,                // the key to be deleted or read was not there
    DoneFull     = 3'd4,                // nothing was added: no place is free and the stash is full
    DoneRead     = 3'd5                 // the key is there
  } done_e;

endpackage
