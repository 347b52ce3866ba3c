package import CloudKitModel

/// A search for records of one type that a predicate holds for.
///
/// An `OR` stops the program at once, as at Apple: make one query for each side. The other rules for
/// predicates are checked when the query runs, and a breach is reported as
/// `CKError.invalidArguments`: no key paths, no `LIKE`, `MATCHES`, `ENDSWITH` or `ALL`, no comparison
/// with nil, no blocks.
open class CKQuery: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  public let recordType: CKRecord.RecordType
  public let predicate: NSPredicate

  private let order: Locked<[NSSortDescriptor]?>

  /// How the records are sorted, by the first descriptor first; nil leaves the order open.
  open var sortDescriptors: [NSSortDescriptor]? {
    get { order.withLock { $0 } }
    set { order.withLock { $0 = newValue } }
  }

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

  /// A query from an archive. One that lacks type or predicate makes the decoder fail, and a query
  /// that finds nothing.
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

  open func copy(with zone: NSZone? = nil) -> Any {
    CKQuery(copyOf: self)
  }

  open override var description: String {
    "<CKQuery: \(recordType) where \(predicate.canonicalFormat), sorted by "
      + "\(sortDescriptors ?? [])>"
  }
}
