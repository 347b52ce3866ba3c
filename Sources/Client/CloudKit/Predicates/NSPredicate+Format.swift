#if !canImport(ObjectiveC)
/// Foundation's predicate on Linux, whose own initializers for formats are unavailable. A protocol
/// can give a class an initializer that returns a subclass.
public protocol PredicateFormatConstructible {}

extension NSPredicate: PredicateFormatConstructible {}

extension PredicateFormatConstructible where Self: NSPredicate {
  /// A predicate that says what `format` says, with the arguments put in for `%@`, `%K` and so on.
  ///
  /// ```swift
  /// NSPredicate(format: "artist == %@ AND year > %d", "Mona", 1500)
  /// NSPredicate(format: "distanceToLocation:fromLocation:(place, %@) < %f", here, 500.0)
  /// NSPredicate(format: "tags CONTAINS 'art' AND self CONTAINS 'two words'")
  /// ```
  ///
  /// - Precondition: the format follows the grammar and there is a fitting argument for each place.
  ///   The program stops with the place of the fault otherwise. What the grammar allows and CloudKit
  ///   cannot search for is refused when a query runs or a subscription is saved.
  public init(format predicateFormat: String, _ args: Any...) {
    self.init(format: predicateFormat, argumentArray: args)
  }

  public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
    let predicate = FormatPredicate(format: predicateFormat, arguments: arguments ?? [])
    // Callers name NSPredicate itself: its subclasses have no format initializers to call.
    self = predicate as! Self
  }
}
#endif
