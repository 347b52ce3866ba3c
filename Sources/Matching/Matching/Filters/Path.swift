import CloudKitModel

/// The source of *points* (facts that a record can have): a field, a way to read bytes from the
/// field, and the options of comparison.
///
/// For example, a record has one point for each word of its title on the path of the words of
/// `title`.
struct Path: Hashable, Sendable {
  /// The way in which points are read from a field.
  enum Shape: Hashable, Sendable {
    case value
    case element
    /// Each word of a text, or of the texts in a list.
    case word
    /// The prefixes of a text, in each length that a predicate compares.
    case prefix
    /// The prefixes of the texts in a list, in each length that a predicate compares.
    case elementPrefix
    /// The fact that the field has no value.
    case absence
    /// The range of 2^`level` keys that contains the ordered key of the value (``DyadicIntervals``).
    case dyadicInterval(OrderedPath.Kind, level: UInt8)
    /// The cell of a grid over the earth that contains the place (``SphereGrid``).
    case cell(level: UInt8)
    /// The zone of the record. The field is not used.
    case zone
    /// The point that every record has. The field is not used.
    case everything
  }

  var field: FieldKey
  var shape: Shape
  var options: Filter.Options = []
}

/// A field whose values are compared with bounds. Each value has an integer with the same order
/// (``OrderedKey``).
struct OrderedPath: Hashable, Sendable {
  /// The kind of the ordered values. A value is never between bounds of another kind.
  enum Kind: Hashable, Sendable {
    /// Integers and doubles, in one order.
    case number
    case timestamp
    /// Texts, by the first eight bytes of the folded text.
    case text(Filter.Options)
  }

  var field: FieldKey
  var kind: Kind
}
