// A library that lies beside the program that needs it.
int number_beside();
int number_beside() { return 42; }
