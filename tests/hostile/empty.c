// exit: 2
// says: there is no loop nest
// output: none
