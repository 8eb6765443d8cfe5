#include "ui/style/page.h"  // its meta-object
