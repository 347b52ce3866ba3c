package import CloudKitModel

/// A search for the records of one type that satisfy a predicate.
///
/// An `OR` in the predicate stops the program in the initializer, as on Apple's systems. Make one
/// query for each side of the `OR`. All other rules are checked when the query runs; a query that
/// breaks one fails with `invalidArguments`. Key paths, `LIKE`, `MATCHES`, `ENDSWITH`, `ALL`,
/// comparisons with nil, and predicates with blocks are not supported.
///
/// ```swift
/// let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
/// query.sortDescriptors = [NSSortDescriptor(key: "modificationDate", ascending: false)]
/// ```
open class CKQuery: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The type of the records to search. It is empty only in a query from a damaged archive.
  public let recordType: CKRecord.RecordType
  /// The condition that the records have to satisfy.
  public let predicate: NSPredicate

  private let order: Locked<[NSSortDescriptor]?>

  /// The order of the results. A later descriptor orders only records that are equal by the earlier
  /// ones. Nil means no particular order.
  ///
  /// `NSSortDescriptor(key:ascending:)` and ``CKLocationSortDescriptor`` are supported.
  open var sortDescriptors: [NSSortDescriptor]? {
    get { order.withLock { $0 } }
    set { order.withLock { $0 = newValue } }
  }

  /// Makes a query.
  ///
  /// - Parameters:
  ///   - recordType: The type of the records to search.
  ///   - predicate: The condition; `NSPredicate(value: true)` matches all records of the type.
  /// - Precondition: `recordType` is not empty, and `predicate` has no `OR`.
  public init(recordType: CKRecord.RecordType, predicate: NSPredicate) {
    requireArgument(!recordType.isEmpty, "CKQuery: recordType must not be empty")
    requireArgument(
      !predicate.node.hasAlternatives,
      "CKQuery: the predicate has an OR, which CloudKit cannot search for; make one query for each "
        + "side: \(predicate.canonicalFormat)")
    self.recordType = recordType
    self.predicate = predicate
    order = Locked(nil)
  }

  private init(copyOf other: CKQuery) {
    recordType = other.recordType
    predicate = other.predicate
    order = Locked(other.sortDescriptors)
  }

  package init(_ model: Query) {
    recordType = model.recordType
    predicate = .predicate(for: model.filters)
    order = Locked(
      model.sortKeys.isEmpty ? nil : model.sortKeys.map { NSSortDescriptor.descriptor(for: $0) })
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes a query from an archive.
  ///
  /// An archive without record type or predicate makes the decoder fail. The initializer then
  /// returns a query without a record type or one that matches nothing. The initializer is not
  /// failable, as on Apple's systems.
  public required init(coder: NSCoder) {
    let recordType = coder.decodeOptionalString(forKey: "recordType")
    let predicate = coder.decodePredicate(forKey: "predicate")
    if recordType == nil || predicate == nil {
      coder.failWithError(CocoaError(.coderValueNotFound))
    }
    self.recordType = recordType ?? ""
    self.predicate = predicate ?? NSPredicate(value: false)
    order = Locked(coder.decodeSortDescriptors(forKey: "sortDescriptors"))
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encodeOptional(recordType, forKey: "recordType")
    coder.encodePredicate(predicate, forKey: "predicate")
    coder.encodeSortDescriptors(sortDescriptors, forKey: "sortDescriptors")
  }

  /// Returns a separate query with the same type, predicate and order.
  open func copy(with zone: NSZone? = nil) -> Any {
    CKQuery(copyOf: self)
  }

  open override var description: String {
    "<CKQuery: \(recordType) where \(predicate.canonicalFormat), sorted by "
      + "\(sortDescriptors ?? [])>"
  }
}
