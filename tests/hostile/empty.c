// output: none
