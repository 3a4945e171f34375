"""The same small function in every language, and what mining should make of changes to it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """A file, and the three changes to it: of a token in a statement, of a header, of an argument list."""

    name: str
    text: str
    token: tuple[str, str]
    context: tuple[str, str]
    """The tokens around the statement with the changed token."""
    canonical: tuple[str, str, str, str]
    """Before, after, and both contexts of that change."""
    header: tuple[str, str]
    call: str
    """The call over several lines, which gets an argument more."""
    argument: tuple[str, str]
    comment: str = "//"


EXAMPLES = {
    "csharp": Example(
        name="a.cs",
        text="""class Shop
{
    int limit;

    int Count(List<int> items, int start)
    {
        var total = start;
        if (total > limit)
        {
            Log(total, "a");
            Send(total);
        }
        Send(
            items,
            total);
        return total;
    }
}
""",
        token=('Log(total, "a");', 'Log(limit, "a");'),
        context=("var total = start ; if ( total > limit ) {", "Send ( total ) ; } Send ("),
        canonical=(
            "Log ( VAR0 , LITERAL ) ;",
            "Log ( VAR1 , LITERAL ) ;",
            "var VAR0 = VAR2 ; if ( VAR0 > VAR1 ) {",
            "Send ( VAR0 ) ; } Send (",
        ),
        header=("if (total > limit)", "if (total >= limit)"),
        call="Send(\n            items,\n            total);",
        argument=("            items,\n", "            items,\n            start,\n"),
    ),
    "python": Example(
        name="a.py",
        text="""class Shop:
    def __init__(self):
        self.limit = 1

    def count(self, items, start):
        total = start
        if total > self.limit:
            log(total, "a")
            send(total)
        send(
            items,
            total,
        )
        return total
""",
        token=('log(total, "a")', 'log(start, "a")'),
        context=(
            "def count ( self , items , start ) : total = start if total > self . limit :",
            "send ( total ) send ( items ,",
        ),
        canonical=(
            "log ( VAR0 , LITERAL )",
            "log ( VAR1 , LITERAL )",
            "def count ( self , VAR2 , VAR1 ) : VAR0 = VAR1 if VAR0 > self . VAR3 :",
            "send ( VAR0 ) send ( VAR2 ,",
        ),
        header=("if total > self.limit:", "if total >= self.limit:"),
        call="send(\n            items,\n            total,\n        )",
        argument=("            items,\n", "            items,\n            start,\n"),
        comment="#",
    ),
    "java": Example(
        name="a.java",
        text="""class Shop {
    int limit;

    int count(List<Integer> items, int start) {
        int total = start;
        if (total > limit) {
            log(total, "a");
            send(total);
        }
        send(
            items,
            total);
        return total;
    }
}
""",
        token=('log(total, "a");', 'log(limit, "a");'),
        context=(
            "int count ( List < Integer > items , int start ) { int total = start ; if ( total > limit ) {",
            "send ( total ) ; } send (",
        ),
        canonical=(
            "log ( VAR0 , LITERAL ) ;",
            "log ( VAR1 , LITERAL ) ;",
            "int count ( List < Integer > VAR2 , int VAR3 ) { int VAR0 = VAR3 ; if ( VAR0 > VAR1 ) {",
            "send ( VAR0 ) ; } send (",
        ),
        header=("if (total > limit)", "if (total >= limit)"),
        call="send(\n            items,\n            total);",
        argument=("            items,\n", "            items,\n            start,\n"),
    ),
    "javascript": Example(
        name="a.js",
        text="""function count(items, start) {
  const total = start;
  if (total > items.limit) {
    log(total, 'a');
    send(total);
  }
  send(
    items,
    total,
  );
  return total;
}
""",
        token=("log(total, 'a');", "log(start, 'a');"),
        context=(
            "function count ( items , start ) { const total = start ; if ( total > items . limit ) {",
            "send ( total ) ; } send (",
        ),
        canonical=(
            "log ( VAR0 , LITERAL ) ;",
            "log ( VAR1 , LITERAL ) ;",
            "function count ( VAR2 , VAR1 ) { const VAR0 = VAR1 ; if ( VAR0 > VAR2 . limit ) {",
            "send ( VAR0 ) ; } send (",
        ),
        header=("if (total > items.limit)", "if (total >= items.limit)"),
        call="send(\n    items,\n    total,\n  );",
        argument=("    items,\n", "    items,\n    start,\n"),
    ),
    "typescript": Example(
        name="a.ts",
        text="""function count(items: Items, start: number): number {
  const total = start;
  if (total > items.limit) {
    log(total, 'a');
    send(total);
  }
  send(
    items,
    total,
  );
  return total;
}
""",
        token=("log(total, 'a');", "log(start, 'a');"),
        context=(
            "function count ( items : Items , start : number ) : number { const total = start ; "
            "if ( total > items . limit ) {",
            "send ( total ) ; } send (",
        ),
        canonical=(
            "log ( VAR0 , LITERAL ) ;",
            "log ( VAR1 , LITERAL ) ;",
            "function count ( VAR2 : Items , VAR1 : number ) : number { const VAR0 = VAR1 ; "
            "if ( VAR0 > VAR2 . limit ) {",
            "send ( VAR0 ) ; } send (",
        ),
        header=("if (total > items.limit)", "if (total >= items.limit)"),
        call="send(\n    items,\n    total,\n  );",
        argument=("    items,\n", "    items,\n    start,\n"),
    ),
    "go": Example(
        name="a.go",
        text="""package artifacts

func count(items []int, start int) int {
\ttotal := start
\tif total > len(items) {
\t\tlog(total, "a")
\t\tsend(total)
\t}
\tsend(
\t\titems,
\t\ttotal,
\t)
\treturn total
}
""",
        token=('log(total, "a")', 'log(start, "a")'),
        context=(
            "func count ( items [ ] int , start int ) int { total := start if total > len ( items ) {",
            "send ( total ) } send (",
        ),
        canonical=(
            "log ( VAR0 , LITERAL )",
            "log ( VAR1 , LITERAL )",
            "func count ( VAR2 [ ] int , VAR1 int ) int { VAR0 := VAR1 if VAR0 > len ( VAR2 ) {",
            "send ( VAR0 ) } send (",
        ),
        header=("if total > len(items)", "if total >= len(items)"),
        call="send(\n\t\titems,\n\t\ttotal,\n\t)",
        argument=("\t\titems,\n", "\t\titems,\n\t\tstart,\n"),
    ),
    "rust": Example(
        name="a.rs",
        text="""fn count(items: &[i32], start: usize) -> usize {
    let total = start;
    if total > items.len() {
        log(total, "a");
        send(total);
    }
    send(
        items,
        total,
    );
    total
}
""",
        token=('log(total, "a");', 'log(start, "a");'),
        context=(
            "fn count ( items : & [ i32 ] , start : usize ) -> usize { let total = start ; "
            "if total > items . len ( ) {",
            "send ( total ) ; } send (",
        ),
        canonical=(
            "log ( VAR0 , LITERAL ) ;",
            "log ( VAR1 , LITERAL ) ;",
            "fn count ( VAR2 : & [ i32 ] , VAR1 : usize ) -> usize { let VAR0 = VAR1 ; if VAR0 > VAR2 . len ( ) {",
            "send ( VAR0 ) ; } send (",
        ),
        header=("if total > items.len()", "if total >= items.len()"),
        call="send(\n        items,\n        total,\n    );",
        argument=("        items,\n", "        items,\n        start,\n"),
    ),
    "cpp": Example(
        name="a.cpp",
        text="""int count(std::vector<int> items, int start) {
    int total = start;
    if (total > items.size()) {
        log(total, "a");
        send(total);
    }
    send(
        items,
        total);
    return total;
}
""",
        token=('log(total, "a");', 'log(start, "a");'),
        context=(
            "int count ( std :: vector < int > items , int start ) { int total = start ; "
            "if ( total > items . size ( ) ) {",
            "send ( total ) ; } send (",
        ),
        canonical=(
            "log ( VAR0 , LITERAL ) ;",
            "log ( VAR1 , LITERAL ) ;",
            "int count ( std :: vector < int > VAR2 , int VAR1 ) { int VAR0 = VAR1 ; if ( VAR0 > VAR2 . size ( ) ) {",
            "send ( VAR0 ) ; } send (",
        ),
        header=("if (total > items.size())", "if (total >= items.size())"),
        call="send(\n        items,\n        total);",
        argument=("        items,\n", "        items,\n        start,\n"),
    ),
}
