import CloudKitModel

/// The source of points in a record: a field, a way to take bytes from it, and the options of
/// comparison.
///
/// For example, the path of the words of `title` gives a point for each word of the title.
struct Path: Hashable, Sendable {
  /// The way in which a path takes points from a field.
  enum Shape: Hashable, Sendable {
    /// The value itself.
    case value
    /// Each element of a list.
    case element
    /// Each word of a text, or of the texts in a list.
    case word
    /// The beginning of a text, in every length that a predicate asks for.
    case prefix
    /// The beginnings of the texts in a list.
    case elementPrefix
    /// The fact that the field has no value.
    case absence
    /// The stretch of the length 2^`level` that holds the value's ordered key.
    case stretch(OrderedPath.Kind, level: UInt8)
    /// The cell of a grid over the earth that holds the place.
    case cell(level: UInt8)
    /// The zone of the record. The field is not used.
    case zone
    /// The point that every record has. The field is not used.
    case everything
  }

  /// The field whose value is read.
  var field: FieldKey
  /// The way in which points are taken.
  var shape: Shape
  /// The options by which texts are folded before they are compared.
  var options: Filter.Options = []
}

/// A field whose values are compared by their order.
struct OrderedPath: Hashable, Sendable {
  /// The kind of the ordered values. Values of different kinds are never between each other's
  /// bounds.
  enum Kind: Hashable, Sendable {
    /// Integers and doubles, in one order.
    case number
    /// Timestamps, in milliseconds.
    case timestamp
    /// Texts, by the first eight bytes of the folded text.
    case text(Filter.Options)
  }

  /// The field whose value is compared.
  var field: FieldKey
  /// The kind of the values.
  var kind: Kind
}
