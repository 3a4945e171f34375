"""A small program in every language, for the laws of syntax."""

SAMPLES: dict[str, str] = {
    "csharp": """\
using System;
namespace N {
    /// docs
    public class A : B {
        private readonly int total = 1;
        public int Price { get; set; } = 2;
        public string M(int a, Thing other, out string b) {
            var x = a == 1 ? null : this.total;   // why
            if (o is Foo z && d.TryGet(1, out var w)) return other.Price;
            foreach (var q in Items) { q.Select(t => t.Price + Price); }
            return $"a{x}b" + @"c\\" + 'd' + x?.Foo(1.0, name: Price, b: new T { Price = a });
        }
    }
}
""",
    "python": """\
import os

LIMIT = 10


class A(B):
    kind: str = "k"

    def f(self, a, b=2, *c, **d):
        self.y = a + LIMIT  # why
        for i, j in z:
            g(i, k=j, y=self.y)
        with open(q) as fh:
            return [v for v in fh if v.y]
        return f"a{a}b" if b else c
""",
    "java": """\
package p;
class A {
  private int f = 1;
  void m(final int a, String... b) throws E {
    int x = a + 1, y;
    for (String s : b) { this.f = s.length() + x; }
    run(q -> q.f, (u, v) -> { return u; }); /* why */
    try (R r = n()) { } catch (E e) { log("x", 'c', e); }
  }
}
""",
    "javascript": """\
'use strict'
const limit = 10
class A {
  f = 1
  m(a, {b, c: d}, ...e) {
    const x = a + 1, [y, z] = q // why
    for (const s of b) this.f = s.length
    return foo(x => x.bar, {k: limit, b}, `a${x}b`, /re+/g)
  }
}
module.exports = A
""",
    "typescript": """\
import { a as b } from "x";
export class A<T extends string> {
  private f: number = 1;
  m(a: number, { b, c: d }: P = {}, e?: T): Promise<void> {
    const x = a + 1;
    this.f = x as number; // why
    return foo((p: T) => p, x!, `t${a}`);
  }
}
interface I { p: string; m(): void }
""",
    "tsx": """\
export const View = ({ name }: Props) => {
  const label = name ?? "none";
  return <div className="x" onClick={() => go(label)}>Hello {label}!</div>;
};
""",
    "go": """\
package p

import "fmt"

const limit = 10

type S struct {
	a    int
	b, c string
}

func (s *S) M(a int, rest ...string) (r int, err error) {
	x, y := a, limit // why
	for i, v := range rest {
		fmt.Println(v, S{a: i})
	}
	if k := g(x); k != nil {
		return y, fmt.Errorf("no: %w", err)
	}
	s.a = '\\n'
	return
}
""",
    "rust": """\
use a::b;
const LIMIT: i32 = 10;
struct S { a: i32, pub b: String }
impl S {
    fn m<'a>(&'a self, a: i32, (p, q): T) -> i32 {
        let x = a + LIMIT; // why
        if let Some(y) = z { self.go(y, x); }
        match e { A(t) => t, n if n > 1 => { n } _ => 0 };
        let c = |r: i32| r + self.a;
        println!("{}", r#"raw "x""#);
        c(1)
    }
}
""",
    "cpp": """\
#include <x>
#define M 1
namespace n {
class A : public B {
  int f_ = 1;
 public:
  explicit A(int q) : f_(q) {}
  int m(int a, const T& b = x) const;
};
int A::m(int a, const char* b) const {
  int x = a + 1, *y = nullptr; // why
  for (auto& s : b) { this->f_ = s.len + f_; }
  return foo([&](int k) { return k + x; }) << "a" << R"(x")" << 'c';
}
}
""",
}
