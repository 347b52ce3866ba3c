import CloudKitModel
import StoreModel

/// The names of zone owners in an owner's private database, and in the shared database of a
/// participant.
///
/// In each database, ``ZoneID/currentOwnerName`` stands for its user, so the two zone IDs differ.
struct ZoneNaming {
  let owner: String
  let participant: String

  // MARK: From the owner's rows to the participant

  func outward(_ zoneID: ZoneID) -> ZoneID {
    switch zoneID.ownerName {
    case ZoneID.currentOwnerName: ZoneID(zoneName: zoneID.zoneName, ownerName: owner)
    case participant: ZoneID(zoneName: zoneID.zoneName)
    default: zoneID
    }
  }

  func outward(_ recordID: RecordID) -> RecordID {
    RecordID(recordName: recordID.recordName, zoneID: outward(recordID.zoneID))
  }

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

  func inward(_ zoneID: ZoneID) -> ZoneID {
    switch zoneID.ownerName {
    case owner: ZoneID(zoneName: zoneID.zoneName)
    case ZoneID.currentOwnerName: ZoneID(zoneName: zoneID.zoneName, ownerName: participant)
    default: zoneID
    }
  }

  func inward(_ operation: RecordOperation) -> RecordOperation {
    var operation = operation
    operation.recordID.zoneID = inward(operation.recordID.zoneID)
    if case .some(.some(let parent)) = operation.parent { operation.parent = inward(parent) }
    operation.fields = operation.fields.mapValues { $0?.mapReferences(inward) }
    return operation
  }

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
