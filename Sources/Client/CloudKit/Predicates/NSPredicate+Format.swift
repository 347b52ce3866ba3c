#if !canImport(ObjectiveC)
/// The protocol that adds initializers for formats to `NSPredicate` on Linux.
///
/// Foundation declares its own initializers for formats as unavailable on Linux. An initializer of
/// a protocol can assign `self`, so it can return a subclass that keeps the parsed format.
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
  /// `%@` takes a value: text, number, date, data, list, `CLLocation`, `CKRecord`, its ID or a
  /// reference. `%K` takes a field name.
  ///
  /// - Parameters:
  ///   - predicateFormat: The format, in the grammar of Apple's predicates.
  ///   - args: One argument for each `%@`, `%K` or number placeholder.
  /// - Precondition: The format follows the grammar and each placeholder has a fitting argument.
  ///   Otherwise the program stops with the position of the mistake. A format that the grammar
  ///   allows and CloudKit does not support is refused later, when a query runs or a subscription
  ///   is saved.
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
    // Callers name NSPredicate itself: its subclasses have no format initializers to call.
    self = predicate as! Self
  }
}
#endif
