import CloudKitModel
import StoreModel

/// The names of zone owners in an owner's private database, and in the shared database of a
/// participant.
///
/// In each database, ``ZoneID/currentOwnerName`` stands for the user of that database. So a zone ID
/// of the owner's rows and the same zone ID for the participant differ.
struct ZoneNaming {
  /// The user record name of the owner of the shared records.
  let owner: String
  /// The user record name of the participant.
  let participant: String

  // MARK: From the owner's rows to the participant

  /// Returns a zone ID of the owner's rows, as the participant sees it.
  func outward(_ zoneID: ZoneID) -> ZoneID {
    switch zoneID.ownerName {
    case ZoneID.currentOwnerName: ZoneID(zoneName: zoneID.zoneName, ownerName: owner)
    case participant: ZoneID(zoneName: zoneID.zoneName)
    default: zoneID
    }
  }

  /// Returns a record ID of the owner's rows, as the participant sees it.
  func outward(_ recordID: RecordID) -> RecordID {
    RecordID(recordName: recordID.recordName, zoneID: outward(recordID.zoneID))
  }

  /// Returns a record of the owner's rows, as the participant sees it.
  func outward(_ record: Record) -> Record {
    var record = record
    record.recordID = outward(record.recordID)
    record.parent = record.parent.map(outward)
    record.share = record.share.map(outward)
    if record.fields.contains(where: { !$0.value.references.isEmpty }) {
      record.fields = record.fields.mapValues { $0.mapReferences(outward) }
    }
    return record
  }

  /// Returns an outcome of a modification of the owner's records, as the participant sees it.
  func outward(_ outcome: RecordOutcome) -> RecordOutcome {
    switch outcome {
    case .saved(let record): return .saved(outward(record))
    case .deleted(let recordID): return .deleted(outward(recordID))
    case .failed(var failure):
      failure.serverRecord = failure.serverRecord.map(outward)
      return .failed(failure)
    }
  }

  private func outward(_ reference: Reference) -> Reference {
    var reference = reference
    reference.zoneID = reference.zoneID.map(outward)
    return reference
  }

  // MARK: From the participant to the owner's rows

  /// Returns a zone ID of the participant, as the owner's rows have it.
  func inward(_ zoneID: ZoneID) -> ZoneID {
    switch zoneID.ownerName {
    case owner: ZoneID(zoneName: zoneID.zoneName)
    case ZoneID.currentOwnerName: ZoneID(zoneName: zoneID.zoneName, ownerName: participant)
    default: zoneID
    }
  }

  /// Returns an operation of the participant, as the owner's database carries it out.
  func inward(_ operation: RecordOperation) -> RecordOperation {
    var operation = operation
    operation.recordID.zoneID = inward(operation.recordID.zoneID)
    if case .some(.some(let parent)) = operation.parent { operation.parent = inward(parent) }
    operation.fields = operation.fields.mapValues { $0?.mapReferences(inward) }
    return operation
  }

  /// Returns a query of the participant, as a search of the owner's database runs it.
  func inward(_ query: RecordQuery) -> RecordQuery {
    var query = query
    query.zoneID = query.zoneID.map(inward)
    query.query.filters = query.query.filters.map { filter in
      var filter = filter
      filter.value = filter.value?.mapReferences(inward)
      return filter
    }
    return query
  }

  private func inward(_ reference: Reference) -> Reference {
    var reference = reference
    reference.zoneID = reference.zoneID.map(inward)
    return reference
  }
}
