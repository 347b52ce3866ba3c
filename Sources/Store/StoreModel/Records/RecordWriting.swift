/// The writes of records.
public protocol RecordWriting: Sendable {
  /// Carries out the operations in one transaction, and returns one outcome for each, in their
  /// order.
  ///
  /// - An operation in a zone that does not exist fails with ``ItemFailure/Code/zoneNotFound``. The
  ///   default zone always exists.
  /// - The first saved value of a field determines the field's type. A value of another type is
  ///   refused; the failure names the record, the field and both types. As an exception, a field of
  ///   doubles also accepts integers, which become doubles.
  /// - If ``RecordModification/isAtomic`` is true, a failed operation in a custom zone undoes the
  ///   other operations in the zone. The outcomes of these are failures with
  ///   ``ItemFailure/Code/atomic``.
  /// - The deletion of a record also deletes the records that refer to it by a `deleteSelf`
  ///   reference, and so on. It deletes no record that the caller could not delete directly.
  /// - If two operations name the same record, the second one is refused.
  ///
  /// The transaction also adds the changes to the outbox. Right after the commit, the handler of
  /// ``OutboxStore/setCommitHandler(_:)`` gets them.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently; ``StoreError/Code/notFound`` if there is no such database.
  func modifyRecords(_ modification: RecordModification) async throws -> [RecordOutcome]
}
