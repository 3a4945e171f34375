"""Build the repository of the demo: a small shop in C#, Python and Markdown, with the history of a year.

Four people keep making the same few edits, as teams do, and leave some places for later. The commits are made with
git itself, with fixed names and dates, so that the history is the same every time.

    python examples/demo_history.py demo/shop
"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

PEOPLE = ("Ada Okafor", "Ben Lindqvist", "Chiara Rossi", "Dev Patel")

CART = """\
using System;
using System.Collections.Generic;
using System.Linq;

namespace Shop
{
    public class Cart
    {
        private readonly List<Item> items = new List<Item>();
        private readonly Customer customer;
        private readonly ILog log;

        public Cart(Customer customer, ILog log)
        {
            this.customer = customer;
            this.log = log;
        }

        public string CustomerName()
        {
            return customer == null ? null : customer.Name;
        }

        public string ShippingCity()
        {
            var address = customer.Address;
            return address == null ? null : address.City;
        }

        public void Add(Item item)
        {
            if (item == null) throw new ArgumentNullException("item");
            log.Info(string.Format("adding {0}", item.Sku));
            items.Add(item);
        }

        public decimal Total()
        {
            decimal sum = 0;
            foreach (var item in items)
            {
                sum = sum + item.Price * item.Quantity;
            }
            return sum;
        }

        public bool IsEmpty()
        {
            return items.Count() == 0;
        }

        public Item Cheapest()
        {
            return items.OrderBy(i => i.Price).FirstOrDefault();
        }
    }
}
"""

ORDERS = """\
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

namespace Shop
{
    public class Orders
    {
        private readonly IStore store;
        private readonly ILog log;
        private int retries;

        public Orders(IStore store, ILog log)
        {
            if (store == null) throw new ArgumentNullException("store");
            this.store = store;
            this.log = log;
        }

        public async Task<Order> Load(string id)
        {
            var order = await store.Get(id);
            log.Info(string.Format("loaded {0}", order.Id));
            return order;
        }

        public string CourierOf(Order order)
        {
            return order == null ? null : order.Courier;
        }

        public async Task Save(Order order)
        {
            if (order == null) throw new ArgumentNullException("order");
            await store.Put(order.Id, order);
            retries = retries + 1;
            log.Info(string.Format("saved {0}", order.Id));
        }

        public async Task<int> Purge(DateTime before)
        {
            var old = await store.Find(o => o.Placed < before);
            foreach (var order in old)
            {
                await store.Delete(order.Id);
            }
            return old.Count();
        }

        public bool HasOpen(IEnumerable<Order> orders)
        {
            return orders.Where(o => o.IsOpen).Count() > 0;
        }
    }
}
"""

CART_TESTS = """\
using Xunit;

namespace Shop.Tests
{
    public class CartTests
    {
        [Fact]
        public void StartsEmpty()
        {
            var cart = new Cart(null, new NullLog());
            Assert.Equal(0, cart.Items.Count);
            Assert.Equal(true, cart.IsEmpty());
        }

        [Fact]
        public void AddsItems()
        {
            var cart = new Cart(null, new NullLog());
            cart.Add(new Item("tea", 3));
            Assert.Equal(1, cart.Items.Count);
            Assert.Equal(false, cart.IsEmpty());
        }

        [Fact]
        public void ForgetsErrors()
        {
            var cart = new Cart(null, new NullLog());
            Assert.Equal(0, cart.Errors.Count);
            Assert.Equal(0, cart.Warnings.Count);
        }
    }
}
"""

REPORT = """\
import logging

log = logging.getLogger(__name__)


class Report:
    def __init__(self, orders, currency="EUR"):
        self.orders = orders
        self.currency = currency
        self.rows = []

    def build(self):
        for order in self.orders:
            if order.total == None:
                continue
            self.rows.append("%s: %s" % (order.id, order.total))
        log.info("built %d rows" % len(self.rows))
        return self.rows

    def headline(self):
        if len(self.rows) == 0:
            return "nothing sold"
        return "%s orders in %s" % (len(self.rows), self.currency)

    def lookup(self, name):
        if name in self.prices.keys():
            return self.prices[name]
        return None


def load(path, encoding=None):
    if encoding == None:
        encoding = "utf-8"
    lines = open(path, encoding=encoding).read().split("\\n")
    if len(lines) == 0:
        return {}
    return {line.split(",")[0]: line for line in lines}
"""

GUIDE = """\
# The shop

The shop takes orders from customers and sends them to warehouse.
Every order has an id, which is never used again.

## Running it

Set the connection string before you start server.
The server will then listens on port 8080.
In order to see the log, open the file named shop.log in folder logs.

## Prices

Prices are stored in cents. A price can not be negative.
"""

SERVICE = """\
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace Shop
{
    public class NAMEs
    {
        private readonly IStore store;
        private readonly ILog log;

        public NAMEs(IStore store, ILog log)
        {
            if (store == null) throw new ArgumentNullException("store");
            if (log == null) throw new ArgumentNullException("log");
            this.store = store;
            this.log = log;
        }

        public async Task<NAME> Load(string id)
        {
            var found = await store.GetNAME(id);
            log.Info("loaded " + id);
            return found;
        }

        public string OwnerOf(NAME one)
        {
            return one == null ? null : one.Owner;
        }

        public async Task Save(NAME one)
        {
            await store.PutNAME(one.Id, one);
        }
    }
}
"""

SERVICE_TESTS = """\
using Xunit;

namespace Shop.Tests
{
    public class NAMEsTests
    {
        [Fact]
        public void StartsEmpty()
        {
            var many = new NAMEs(new FakeStore(), new NullLog());
            Assert.Equal(0, many.Errors.Count);
            Assert.Equal(0, many.All().Count);
        }
    }
}
"""

TOOL = """\
def read_NAMEs(path, limit=None):
    if limit == None:
        limit = 100
    found = list(rows(path))[:limit]
    if len(found) == 0:
        return []
    return [row for row in found if row.total is not None]


def total(found, currency=None):
    if currency == None:
        currency = "EUR"
    if len(found) == 0:
        return 0, currency
    return sum(row.total for row in found), currency
"""

SERVICES = ("Invoice", "Parcel", "Voucher", "Supplier", "Refund")
"""The services, each with a class, its tests and a tool; the first three are tidied, the others left as they are."""

# (who, days later, message, [(file, old, new), …]); an old text of "" puts the new one into an empty file.
HISTORY: list[tuple[int, int, str, list[tuple[str, str, str]]]] = [
    (0, 0, "A cart", [("src/Cart.cs", "", CART), ("tests/CartTests.cs", "", CART_TESTS), ("docs/guide.md", "", GUIDE)]),
    (1, 9, "Orders", [("src/Orders.cs", "", ORDERS)]),
    (2, 12, "A daily report", [("tools/report.py", "", REPORT)]),
    (3, 20, "Use the null-conditional operator", [
        ("src/Cart.cs", "return customer == null ? null : customer.Name;", "return customer?.Name;"),
    ]),
    (1, 3, "Assert.Empty reads better", [
        ("tests/CartTests.cs", "Assert.Equal(0, cart.Items.Count);", "Assert.Empty(cart.Items);"),
    ]),
    (0, 6, "nameof survives renaming", [
        ("src/Cart.cs", 'throw new ArgumentNullException("item");', "throw new ArgumentNullException(nameof(item));"),
    ]),
    (2, 8, "Compare with None by identity", [("tools/report.py", "if order.total == None:", "if order.total is None:")]),
    (3, 1, "guide: add the missing article", [
        ("docs/guide.md", "sends them to warehouse.", "sends them to the warehouse."),
    ]),
    (1, 14, "Do not capture the context in library code", [
        ("src/Orders.cs", "await store.Get(id);", "await store.Get(id).ConfigureAwait(false);"),
        ("src/Orders.cs", "await store.Put(order.Id, order);", "await store.Put(order.Id, order).ConfigureAwait(false);"),
    ]),
    (0, 5, "Interpolate log messages", [
        ("src/Cart.cs", 'log.Info(string.Format("adding {0}", item.Sku));', 'log.Info($"adding {item.Sku}");'),
    ]),
    (2, 4, "Any() stops at the first", [
        ("src/Orders.cs", "orders.Where(o => o.IsOpen).Count() > 0;", "orders.Any(o => o.IsOpen);"),
    ]),
    (3, 11, "f-strings in the report", [
        ("tools/report.py", '"%s: %s" % (order.id, order.total)', 'f"{order.id}: {order.total}"'),
    ]),
    (1, 2, "Say what is asserted", [
        ("tests/CartTests.cs", "Assert.Equal(true, cart.IsEmpty());", "Assert.True(cart.IsEmpty());"),
    ]),
    (0, 7, "Sum up with +=", [
        ("src/Cart.cs", "sum = sum + item.Price * item.Quantity;", "sum += item.Price * item.Quantity;"),
    ]),
    (2, 9, "Null-conditional once more", [
        ("src/Cart.cs", "return address == null ? null : address.City;", "return address?.City;"),
    ]),
    (3, 3, "guide: grammar", [
        ("docs/guide.md", "before you start server.", "before you start the server."),
        ("docs/guide.md", "The server will then listens on", "The server will then listen on"),
    ]),
    (0, 13, "nameof here too", [
        ("src/Orders.cs", 'ArgumentNullException("store")', "ArgumentNullException(nameof(store))"),
    ]),
    (1, 6, "Log with interpolation", [
        ("src/Orders.cs", 'log.Info(string.Format("loaded {0}", order.Id));', 'log.Info($"loaded {order.Id}");'),
    ]),
    (2, 5, "An empty list is false", [
        ("tools/report.py", "if len(self.rows) == 0:", "if not self.rows:"),
    ]),
    (3, 8, "ConfigureAwait in Purge", [
        ("src/Orders.cs", "await store.Find(o => o.Placed < before);",
         "await store.Find(o => o.Placed < before).ConfigureAwait(false);"),
    ]),
    (1, 10, "Assert.Empty for errors", [
        ("tests/CartTests.cs", "Assert.Equal(0, cart.Errors.Count);", "Assert.Empty(cart.Errors);"),
    ]),
    (0, 4, "Membership needs no keys()", [
        ("tools/report.py", "if name in self.prices.keys():", "if name in self.prices:"),
    ]),
    (2, 15, "Count with a property", [("src/Cart.cs", "return items.Count() == 0;", "return items.Count == 0;")]),
    (3, 2, "guide: cannot is one word", [("docs/guide.md", "A price can not be negative.", "A price cannot be negative.")]),
    (1, 6, "Say what is not", [
        ("tests/CartTests.cs", "Assert.Equal(false, cart.IsEmpty());", "Assert.False(cart.IsEmpty());"),
    ]),
    (0, 3, "retries += 1", [("src/Orders.cs", "retries = retries + 1;", "retries += 1;")]),
    (2, 7, "guide: plainer words", [("docs/guide.md", "In order to see the log,", "To see the log,")]),
]  # fmt: skip


def tidying(name: str, first: int) -> list[tuple[int, int, str, list[tuple[str, str, str]]]]:
    """Return the commits in which people tidy a service."""
    code, tests, tool = f"src/{name}s.cs", f"tests/{name}sTests.cs", f"tools/{name.lower()}s.py"
    return [
        (first % 4, 2, f"{name}s: null-conditional", [
            (code, "return one == null ? null : one.Owner;", "return one?.Owner;"),
        ]),
        ((first + 1) % 4, 1, f"{name}s: Assert.Empty", [
            (tests, "Assert.Equal(0, many.Errors.Count);", "Assert.Empty(many.Errors);"),
            (tests, "Assert.Equal(0, many.All().Count);", "Assert.Empty(many.All());"),
        ]),
        ((first + 2) % 4, 3, f"{name}s: nameof", [
            (code, 'new ArgumentNullException("store");', "new ArgumentNullException(nameof(store));"),
            (code, 'new ArgumentNullException("log");', "new ArgumentNullException(nameof(log));"),
        ]),
        ((first + 3) % 4, 2, f"{name}s: ConfigureAwait in library code", [
            (code, f"await store.Get{name}(id);", f"await store.Get{name}(id).ConfigureAwait(false);"),
            (code, f"await store.Put{name}(one.Id, one);", f"await store.Put{name}(one.Id, one).ConfigureAwait(false);"),
        ]),
        (first % 4, 4, f"{name.lower()}s.py: compare with None by identity", [
            (tool, "if limit == None:", "if limit is None:"),
            (tool, "if currency == None:", "if currency is None:"),
        ]),
        ((first + 1) % 4, 1, f"{name.lower()}s.py: an empty list is false", [
            (tool, "    if len(found) == 0:\n        return []", "    if not found:\n        return []"),
            (tool, "    if len(found) == 0:\n        return 0", "    if not found:\n        return 0"),
        ]),
    ]  # fmt: skip


def services() -> list[tuple[int, int, str, list[tuple[str, str, str]]]]:
    """Return the commits of the second half of the year: the services are added, then some of them tidied."""
    templates = (("src/NAMEs.cs", SERVICE), ("tests/NAMEsTests.cs", SERVICE_TESTS))
    history = [
        (number % 4, 3, f"{name}s", [
            *((path.replace("NAME", name), "", text.replace("NAME", name)) for path, text in templates),
            (f"tools/{name.lower()}s.py", "", TOOL.replace("NAME", name.lower())),
        ])
        for number, name in enumerate(SERVICES)
    ]  # fmt: skip
    for number, name in enumerate(SERVICES[:3]):
        history += tidying(name, number)
    return history


def build(folder: Path) -> int:
    """Make the repository, and return the number of its commits."""
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    when = datetime(2025, 1, 6, 9, 30, tzinfo=UTC)
    commits = HISTORY + services()
    for person, days, message, changes in commits:
        when += timedelta(days=days, minutes=17)
        for name, old, new in changes:
            _change(folder / name, old, new)
        _git(folder, "add", "--all")
        _git(folder, "commit", "--quiet", "--message", message, person=PEOPLE[person], when=when)
    return len(commits)


def _change(file: Path, old: str, new: str) -> None:
    if not old:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(new, encoding="utf-8")
        return
    text = file.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ValueError(f"{file.name}: {old!r} stands there {text.count(old)} times")
    file.write_text(text.replace(old, new), encoding="utf-8")


def _git(folder: Path, *arguments: str, person: str = PEOPLE[0], when: datetime | None = None) -> None:
    address = f"{person.split()[0].lower()}@shop.example"
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_NAME": person, f"GIT_{role}_EMAIL": address}
        env |= {f"GIT_{role}_DATE": when.isoformat()} if when else {}
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, env=env)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/demo_history.py FOLDER")
    place = Path(sys.argv[1])
    if place.exists():
        sys.exit(f"{place} exists already. Give a new folder.")
    print(f"{build(place)} commits in {place}")
