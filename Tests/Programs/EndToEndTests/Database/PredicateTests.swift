import CloudKit
import Testing

struct PredicateTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var predicate: @Sendable () -> NSPredicate
    var expected: Set<String>

    init(
      _ name: String, _ expected: Set<String>, _ predicate: @escaping @Sendable () -> NSPredicate
    ) {
      self.name = name
      self.expected = expected
      self.predicate = predicate
    }

    var testDescription: String { name }
  }

  private static let all: Set = ["suva", "tonga", "berlin", "bare"]
  private static let suva = CLLocation(latitude: -18.14, longitude: 178.44)
  private static let noon = Date(timeIntervalSince1970: 1_700_000_000)

  static let cases = [
    Case("every record", all) { .all },
    Case("equality", ["suva"]) { NSPredicate(format: "place == 'Suva'") },
    Case("equality is case-sensitive", []) { NSPredicate(format: "place == 'suva'") },
    Case("inequality, which a missing value fulfils", ["tonga", "berlin", "bare"]) {
      NSPredicate(format: "place != 'Suva'")
    },
    Case("less than", ["berlin"]) { NSPredicate(format: "depth < %d", 100) },
    Case("at least", ["suva", "tonga"]) { NSPredicate(format: "magnitude >= %f", 5.5) },
    Case("between", ["suva"]) {
      NSPredicate(format: "depth BETWEEN %@", [100, 550] as [Int] as NSArray)
    },
    Case("one of several", ["tonga", "berlin"]) {
      NSPredicate(format: "place IN %@", ["Berlin", "Tonga"] as NSArray)
    },
    Case("a list that contains", ["suva", "tonga"]) { NSPredicate(format: "tags CONTAINS 'deep'") },
    Case("a prefix", ["berlin"]) { NSPredicate(format: "place BEGINSWITH 'Ber'") },
    Case("words of any text", ["tonga"]) {
      NSPredicate(format: "self CONTAINS 'strong warning'")
    },
    Case("distance", ["suva"]) {
      NSPredicate(
        format: "distanceToLocation:fromLocation:(location, %@) < 200000", suva)
    },
    Case("a date", ["suva"]) { NSPredicate(format: "time > %@", noon as NSDate) },
    Case("a conjunction", ["tonga"]) {
      NSPredicate(format: "tags CONTAINS 'deep' AND magnitude > 6.0 AND place BEGINSWITH 'T'")
    },
  ]

  @Test("A predicate selects the records that it holds for", arguments: cases)
  func selects(_ example: Case) async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop")
      try await phone.privateCloudDatabase.subscribe(
        to: "Earthquake", where: example.predicate())
      try await laptop.privateCloudDatabase.modifyRecords(
        saving: Self.earthquakes(), deleting: [])
      let pushes = try await cloud.settledPushes()
      #expect(pushes.compactMap(\.recordName).sorted() == example.expected.sorted())
    }
  }

  private static func earthquakes() -> [CKRecord] {
    [
      CKRecord(
        "Earthquake", "suva",
        [
          "place": "Suva", "depth": 550, "magnitude": 5.5, "tags": ["deep", "sea"],
          "note": "no warning", "location": suva, "time": noon.addingTimeInterval(1),
        ]),
      CKRecord(
        "Earthquake", "tonga",
        [
          "place": "Tonga", "depth": 551, "magnitude": 6.5, "tags": ["deep"],
          "note": "Warning: a STRONG one",
          "location": CLLocation(latitude: -21.13, longitude: -175.2), "time": noon,
        ]),
      CKRecord(
        "Earthquake", "berlin",
        [
          "place": "Berlin", "depth": 5, "magnitude": 1.5, "tags": ["rare"],
          "location": CLLocation(latitude: 52.52, longitude: 13.4), "time": noon,
        ]),
      CKRecord("Earthquake", "bare"),
    ]
  }
}
