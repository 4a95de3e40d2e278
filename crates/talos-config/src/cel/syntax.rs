//! The tree of an expression. Its nodes stand in one list and know each other by number, so that it
//! is taken down without recursion however deep it is.

/// The number of a node.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Id(pub(super) usize);

#[derive(Debug)]
pub(super) struct Node {
    /// The place that errors about it name.
    pub(super) at: usize,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// Something is wrong with it, and that was reported.
    Invalid,
    Literal(Literal),
    Name(Name),
    /// `operand.field`, or whether there is such a field.
    Select {
        operand: Id,
        field: String,
        test: bool,
    },
    /// `operand.?field`
    OptionalSelect {
        operand: Id,
        field: String,
    },
    Call {
        function: Name,
        target: Option<Id>,
        arguments: Vec<Id>,
    },
    List(Vec<Element>),
    Map(Vec<Entry>),
    Message {
        name: Name,
        fields: Vec<Field>,
    },
    Comprehension(Box<Comprehension>),
}

/// A value is of no interest, only its type.
#[derive(Clone, Copy, Debug)]
pub(super) enum Literal {
    Bool,
    Bytes,
    Double,
    Int,
    Null,
    String,
    Uint,
}

/// A name, possibly with dots in it.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    /// True if a dot stands before it: then it is not the name of a variable of a macro.
    pub(super) rooted: bool,
}

impl Name {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), rooted: false }
    }

    /// As it was written.
    pub(super) fn written(&self) -> String {
        if self.rooted { format!(".{}", self.text) } else { self.text.clone() }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    pub(super) value: Id,
    pub(super) optional: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) key: Id,
    pub(super) value: Id,
    pub(super) optional: bool,
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) at: usize,
    pub(super) name: String,
    pub(super) value: Id,
    pub(super) optional: bool,
}

/// The expansion of a macro: a fold over a range.
#[derive(Debug)]
pub(super) struct Comprehension {
    pub(super) range: Id,
    pub(super) variable: Name,
    pub(super) accumulator: Name,
    pub(super) start: Id,
    pub(super) condition: Id,
    pub(super) step: Id,
    pub(super) result: Id,
}

/// All nodes.
#[derive(Debug, Default)]
pub(super) struct Tree(Vec<Node>);

impl Tree {
    pub(super) fn add(&mut self, at: usize, kind: Kind) -> Id {
        self.0.push(Node { at, kind });
        Id(self.0.len() - 1)
    }

    pub(super) fn get(&self, id: Id) -> &Node {
        &self.0[id.0]
    }

    /// `a.b.c` as one name, if it is nothing but names.
    pub(super) fn qualified(&self, id: Id) -> Option<Name> {
        let mut parts = Vec::new();
        let mut id = id;
        loop {
            match &self.get(id).kind {
                Kind::Select { operand, field, test: false } => {
                    parts.push(field.as_str());
                    id = *operand;
                }
                Kind::Name(name) => {
                    parts.push(&name.text);
                    parts.reverse();
                    return Some(Name { text: parts.join("."), rooted: name.rooted });
                }
                _ => return None,
            }
        }
    }

    /// Returns the number of nodes and entries that hang on this one, itself included.
    pub(super) fn count(&self, root: Id) -> usize {
        let mut count = 0;
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            count += 1;
            match &self.get(id).kind {
                Kind::Invalid | Kind::Literal(_) | Kind::Name(_) => {}
                Kind::Select { operand, field: _, test: _ } => open.push(*operand),
                Kind::OptionalSelect { operand, field: _ } => {
                    // The field is a node of its own to the reference.
                    count += 1;
                    open.push(*operand);
                }
                Kind::Call { function: _, target, arguments } => {
                    open.extend(target);
                    open.extend(arguments);
                }
                Kind::List(elements) => open.extend(elements.iter().map(|element| element.value)),
                Kind::Map(entries) => {
                    count += entries.len();
                    open.extend(entries.iter().flat_map(|entry| [entry.key, entry.value]));
                }
                Kind::Message { name: _, fields } => {
                    count += fields.len();
                    open.extend(fields.iter().map(|field| field.value));
                }
                Kind::Comprehension(comprehension) => {
                    let Comprehension {
                        range,
                        variable: _,
                        accumulator: _,
                        start,
                        condition,
                        step,
                        result,
                    } = comprehension.as_ref();
                    open.extend([range, start, condition, step, result]);
                }
            }
        }
        count
    }
}
