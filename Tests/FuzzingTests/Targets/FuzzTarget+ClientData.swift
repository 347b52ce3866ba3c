import CoreLocation
import Foundation

@testable import CloudKit

// What a client reads of files: keyed archives.
extension FuzzTarget {
  static let clientData = [archives]

  private struct Sample {
    var type: any (NSObject & NSSecureCoding).Type
    var archive: Data
  }

  private static let samples: [Sample] = {
    let zoneID = CKRecordZone.ID(zoneName: "z", ownerName: "o")
    let record = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "r", zoneID: zoneID))
    record["text"] = "t"
    record["number"] = 1
    record["list"] = [1.5, 2]
    record["date"] = Date(timeIntervalSince1970: 1)
    record["place"] = CLLocation(latitude: 1, longitude: 2)
    record["other"] = CKRecord.Reference(recordID: record.recordID, action: .deleteSelf)
    record.encryptedValues["secret"] = "s"
    let query = CKQuery(recordType: "T", predicate: NSPredicate(format: "a > 1 AND b IN {'x'}"))
    query.sortDescriptors = [NSSortDescriptor(key: "a", ascending: true)]
    let subscription = CKQuerySubscription(
      recordType: "T", predicate: NSPredicate(format: "a BEGINSWITH 'x'"), subscriptionID: "s",
      options: [.firesOnRecordCreation, .firesOnce])
    subscription.notificationInfo = CKSubscription.NotificationInfo(alertBody: "a")
    let objects: [any NSObject & NSSecureCoding] = [
      record, query, subscription, CKRecordZone(zoneID: zoneID),
      CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "s"),
      CKDatabaseSubscription(subscriptionID: "s"), CKOperationGroup(), CKNotification.ID("n"),
    ]
    return objects.compactMap { object in
      let archive = try? NSKeyedArchiver.archivedData(
        withRootObject: object, requiringSecureCoding: true)
      return archive.map { Sample(type: type(of: object), archive: $0) }
    }
  }()

  /// Lines, each for a value in an archive: its number, a space, and what stands there instead. What
  /// the objects are stays as it is: Foundation's unarchiver on Linux stops the program at an object
  /// of another class than it was asked for.
  private static let archives = FuzzTarget(
    "archives", longest: 512,
    words: ["-1", "9223372036854775807", "1e308", "nan", "a == ", "CKCurrentUserDefaultName", "\n"]
  ) { input in
    guard let sample = input.first.map({ samples[Int($0) % samples.count] }) else { return }
    var replacements: [Int: String] = [:]
    for line in input.dropFirst().split(separator: 10) {
      let parts = line.split(separator: 32, maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let number = Int(parts[0].text) else { continue }
      replacements[number] = parts[1].text
    }
    guard
      var archive = try? PropertyListSerialization.propertyList(from: sample.archive, format: nil)
        as? [String: Any]
    else { return }
    var count = 0
    func replaced(_ value: Any) -> Any {
      switch value {
      case let members as [String: Any]:
        if members["$classname"] != nil { return members }
        return Dictionary(
          uniqueKeysWithValues: members.sorted { $0.key < $1.key }.map {
            ($0.key, $0.key == "$class" ? $0.value : replaced($0.value))
          })
      case let elements as [Any]: return elements.map(replaced)
      case let text as String where text != "$null":
        count += 1
        return replacements[count] ?? text
      case let number as NSNumber:
        count += 1
        guard let text = replacements[count] else { return number }
        return Int(text).map { NSNumber(value: $0) } ?? NSNumber(value: Double(text) ?? 0)
      case let data as Data:
        count += 1
        return replacements[count].map { Data($0.utf8) } ?? data
      default: return value
      }
    }
    archive["$objects"] = replaced(archive["$objects"] as Any)
    guard
      let attacked = try? PropertyListSerialization.data(
        fromPropertyList: archive, format: .binary, options: 0)
    else { return }
    try check(attacked, sample.type)
  }

  private static func check(_ data: Data, _ type: any (NSObject & NSSecureCoding).Type) throws {
    guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data) else { return }
    unarchiver.decodingFailurePolicy = .setErrorAndReturn
    let object = unarchiver.decodeObject(of: [type], forKey: NSKeyedArchiveRootObjectKey)
    unarchiver.finishDecoding()
    guard unarchiver.error == nil, let object = object as? any NSObject & NSSecureCoding else {
      return
    }
    _ = object.description
    let again = try must("what was read of an archive can be archived") {
      try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }
    let copy = try must("what was archived can be read") {
      try NSKeyedUnarchiver.unarchivedObject(ofClasses: [type], from: again)
    }
    try hold(copy != nil, "what was archived is there")
  }
}
