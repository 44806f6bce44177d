"""One process of the demo."""

import sys

from hindsight_langgraph.demo.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
