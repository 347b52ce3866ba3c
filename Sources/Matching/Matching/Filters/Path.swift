import CloudKitModel

/// Where in a record points come from, and how the bytes there are made.
struct Path: Hashable, Sendable {
  enum Shape: Hashable, Sendable {
    /// The value itself.
    case value
    /// The elements of a list.
    case element
    /// The words of a text or of a list of texts.
    case word
    /// The beginning of a text, in every length that is asked for.
    case prefix
    /// The beginnings of the texts in a list.
    case elementPrefix
    /// That there is no value.
    case absence
    /// The stretch that holds the value's ordered key, of the length 2^`level`.
    case stretch(OrderedPath.Kind, level: UInt8)
    /// The cell of a grid over the earth that holds the place.
    case cell(level: UInt8)
    /// The zone of the record, whatever the field.
    case zone
    /// Every record has it.
    case everything
  }

  var field: FieldKey
  var shape: Shape
  var options: Filter.Options = []
}

/// A field whose values are compared by their order.
struct OrderedPath: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case number
    case timestamp
    /// By the first eight bytes of the folded text.
    case text(Filter.Options)
  }

  var field: FieldKey
  var kind: Kind
}
