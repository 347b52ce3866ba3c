import CloudKit

/// The records that clients of this process save, with the contents of ``EarthquakeRequests``. A
/// record has a number, at least 0, from which its name and its contents follow.
enum EarthquakeRecords {
  private static let prefix = "quake-"

  static func recordID(_ number: Int, in zoneID: CKRecordZone.ID) -> CKRecord.ID {
    CKRecord.ID(recordName: prefix + "\(number)", zoneID: zoneID)
  }

  static func number(of recordID: CKRecord.ID) -> Int? {
    let name = recordID.recordName
    return name.hasPrefix(prefix) ? Int(name.dropFirst(prefix.count)) : nil
  }

  static func station(of number: Int) -> Int { number % 1_000 }

  static func record(_ recordID: CKRecord.ID) -> CKRecord? {
    guard let number = number(of: recordID) else { return nil }
    let station = station(of: number)
    let record = CKRecord(recordType: "Earthquake", recordID: recordID)
    record["magnitude"] = 4 + Double(station % 30) / 10
    record["station"] = station
    record["place"] = "\(station) km from Suva"
    record["tags"] = ["deep", "fiji"]
    record["location"] = CLLocation(latitude: -18.1, longitude: 178.4)
    return record
  }
}
