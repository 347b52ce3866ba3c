/// Writes of records.
public protocol RecordWriting: Sendable {
  /// Carries out the operations in order and returns one outcome for each.
  ///
  /// - An operation in a zone that does not exist fails with ``ItemFailure/Code/zoneNotFound``. The
  ///   default zone always exists.
  /// - The type of a field is fixed by the first value saved in it. Another type is refused with
  ///   the record, the field and both types. Integers are accepted in a double field and stored as
  ///   doubles.
  /// - With ``RecordModification/isAtomic`` a failure in a custom zone undoes the zone's other
  ///   operations, whose outcomes become ``ItemFailure/Code/atomic``.
  /// - Deleting the target of a `deleteSelf` reference deletes the holder too, recursively.
  /// - A record that appears twice in a request is refused the second time.
  ///
  /// The changes reach the outbox in the same transaction, and the handler of
  /// ``OutboxStore/setCommitHandler(_:)`` right after the commit.
  func modifyRecords(_ modification: RecordModification) async throws -> [RecordOutcome]
}
