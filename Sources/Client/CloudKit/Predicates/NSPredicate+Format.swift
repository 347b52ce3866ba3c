#if !canImport(ObjectiveC)
/// The protocol that adds initializers for formats to `NSPredicate` on Linux.
///
/// Foundation declares its own initializers for formats as unavailable on Linux. An initializer in
/// a protocol extension can assign `self`. So it can return an object of a subclass that stores the
/// parsed format.
public protocol PredicateFormatConstructible {}

extension NSPredicate: PredicateFormatConstructible {}

extension PredicateFormatConstructible where Self: NSPredicate {
  /// Makes a predicate from a format and its arguments.
  ///
  /// ```swift
  /// NSPredicate(format: "artist == %@ AND year > %d", "Mona", 1500)
  /// NSPredicate(format: "distanceToLocation:fromLocation:(place, %@) < %f", here, 500.0)
  /// NSPredicate(format: "tags CONTAINS 'art' AND self CONTAINS 'two words'")
  /// ```
  ///
  /// `%@` stands for a value: a text, a number, a date, data, a list, a `CLLocation`, a `CKRecord`,
  /// a record ID or a reference. `%K` stands for a field name.
  ///
  /// - Parameters:
  ///   - predicateFormat: The format, in the grammar of Apple's predicates.
  ///   - args: One argument for each `%@`, `%K` or number placeholder.
  /// - Precondition: The format follows the grammar, and each placeholder has an argument of a
  ///   fitting type. Otherwise the program stops, and the message has the position of the mistake.
  ///   CloudKit does not support all formats of the grammar. An unsupported format fails later,
  ///   when a query runs or a subscription is saved.
  public init(format predicateFormat: String, _ args: Any...) {
    self.init(format: predicateFormat, argumentArray: args)
  }

  /// Makes a predicate from a format and a list of arguments.
  ///
  /// - Parameters:
  ///   - predicateFormat: The format, as in ``init(format:_:)``.
  ///   - arguments: The arguments in the order of the placeholders; nil means none.
  /// - Precondition: As for ``init(format:_:)``.
  public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
    let predicate = FormatPredicate(format: predicateFormat, arguments: arguments ?? [])
    // The cast succeeds: callers use NSPredicate itself, because its subclasses have no
    // initializers for formats.
    self = predicate as! Self
  }
}
#endif
