/// One condition on a record. A query or subscription holds any number of them, all of which must
/// hold. `Filter+Evaluation.swift` defines what each means.
public struct Filter: Sendable, Hashable {
  /// How strings are compared. Not in Apple's web protocol; from `[c]` and `[d]` in predicates.
  public struct Options: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let caseInsensitive = Options(rawValue: 1)
    public static let diacriticInsensitive = Options(rawValue: 2)
  }

  public var key: FieldKey
  public var comparator: Comparator
  /// What the field is compared with; nil only with `EQUALS` and `NOT_EQUALS`, where it stands for
  /// "no value".
  public var value: RecordValue?
  /// Metres; for `NEAR` only.
  public var distance: Double?
  public var options: Options

  public init(
    _ key: FieldKey, _ comparator: Comparator, _ value: RecordValue?, distance: Double? = nil,
    options: Options = []
  ) {
    self.key = key
    self.comparator = comparator
    self.value = value
    self.distance = distance
    self.options = options
  }

  /// The filter that no record passes: the lowered form of `FALSEPREDICATE`.
  public static let never = Filter(.system(.recordName), .isIn, .list(of: .string, []))
}
