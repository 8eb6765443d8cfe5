"""Runs a script, named first, with stand-ins for torch, numpy and Pillow: as far as it comes without them."""
import runpy
import sys
from unittest.mock import MagicMock


class Module:
    def state_dict(self):
        return {}


torch = MagicMock()
torch.nn.Module, torch.optim.Optimizer = Module, object
torch.cuda.is_available.return_value = False
torch.distributed.is_initialized.return_value = False
for name, module in {
    'torch': torch,
    'torch.distributed': torch.distributed,
    'torch.nn': torch.nn,
    'torch.nn.functional': torch.nn.functional,
    'numpy': MagicMock(),
    'PIL': MagicMock(),
}.items():
    sys.modules[name] = module
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name='__main__')
