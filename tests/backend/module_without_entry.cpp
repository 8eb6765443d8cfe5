// A shared object, but no backend.
extern "C" int somethingElse() { return 0; }
