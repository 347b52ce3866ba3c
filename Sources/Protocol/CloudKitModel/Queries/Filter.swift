/// One condition on a record. A record passes a query, or a subscription's query, when all filters
/// of the query hold.
///
/// ```swift
/// // title BEGINSWITH[c] "swift"
/// Filter(.field("title"), .beginsWith, .string("swift"), options: .caseInsensitive)
/// ```
///
/// ``matches(_:)`` defines the meaning of a filter.
public struct Filter: Sendable, Hashable {
  /// The options for the comparison of strings. Apple's web protocol has none; Petrel adds these
  /// options for `[c]` and `[d]` of predicates.
  public struct Options: OptionSet, Sendable, Hashable {
    /// The options as bits: 1 for case, 2 for diacritics.
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Strings that differ in case alone are equal (`[c]` in a predicate).
    public static let caseInsensitive = Options(rawValue: 1)
    /// Strings that differ in diacritics alone are equal (`[d]` in a predicate).
    public static let diacriticInsensitive = Options(rawValue: 2)
  }

  /// The part of the record that the filter tests.
  public var key: FieldKey
  /// The comparison between the field and ``value``.
  public var comparator: Comparator
  /// The value that the field is compared with. It is nil only with `EQUALS` and `NOT_EQUALS`,
  /// where it means that the field is absent.
  public var value: RecordValue?
  /// The largest distance in metres. Only `NEAR` has one.
  public var distance: Double?
  /// The options for the comparison of strings. Searches for words ignore the options.
  public var options: Options

  /// Creates a filter without checks; call ``validate()`` to check it. Names of records that the filter
  /// compares get the form of stored names, ``Swift/String/composed``.
  public init(
    _ key: FieldKey, _ comparator: Comparator, _ value: RecordValue?, distance: Double? = nil,
    options: Options = []
  ) {
    self.key = key
    self.comparator = comparator
    self.value = key == .system(.recordName) ? value?.composingNames : value
    self.distance = distance
    self.options = options
  }

  /// The filter that no record passes. `FALSEPREDICATE` becomes this filter.
  public static let never = Filter(.system(.recordName), .isIn, .list(of: .string, []))
}

extension RecordValue {
  /// The value with its texts as names of records. A text that is not stream-safe is no name, and stays.
  fileprivate var composingNames: RecordValue {
    switch self {
    case .string(let name): name.isStreamSafe ? .string(name.composed) : self
    case .list(let element, let values): .list(of: element, values.map(\.composingNames))
    case .int64, .double, .timestamp, .preciseTimestamp, .bytes, .location, .reference, .asset: self
    }
  }
}
