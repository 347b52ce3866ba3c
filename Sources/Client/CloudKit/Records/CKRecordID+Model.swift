package import CloudKitModel

extension CKRecordZone.ID {
  package var model: ZoneID { ZoneID(zoneName: zoneName, ownerName: ownerName) }
}

extension CKRecord.ID {
  package var model: RecordID { RecordID(recordName: recordName, zoneID: zoneID.model) }
}

extension CKRecord.Reference {
  /// Makes a reference from the server's answer.
  ///
  /// - Parameter model: The reference in the answer. Without a zone, it names a record in the zone
  ///   of the record that holds the reference.
  package convenience init(_ model: CloudKitModel.Reference, in zoneID: CKRecordZone.ID) {
    self.init(
      recordID: CKRecord.ID(
        RecordID(recordName: model.recordName, zoneID: model.zoneID ?? zoneID.model)),
      action: model.action == .deleteSelf ? .deleteSelf : .none)
  }

  package var model: CloudKitModel.Reference {
    CloudKitModel.Reference(
      recordName: recordID.recordName, zoneID: recordID.zoneID.model,
      action: action == .deleteSelf ? .deleteSelf : .none)
  }
}
