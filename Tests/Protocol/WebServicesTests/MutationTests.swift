import CloudKitModel
import Foundation
import JSONCoding
import PropertyTesting
import Testing
import WebServices

/// Requests that were damaged in transit or made by broken clients.
struct MutationTests {
  private let context = MessageContext(ownerNaming: .explicit)

  @Test("No damaged body of any request crashes the reading of it", arguments: Seeds.some(60))
  func bytes(seed: Int) {
    var random = RandomModel(seed: seed)
    for _ in 0..<20 {
      var body = [UInt8](self.body(&random))
      for _ in 0..<Int.random(in: 1...4, using: &random.generator) {
        damage(&body, &random.generator)
      }
      readAll(Data(body))
    }
  }

  @Test(
    "What is read of a request with foreign parts can be written and read again",
    arguments: Seeds.some(60))
  func trees(seed: Int) throws {
    var random = RandomModel(seed: seed)
    for _ in 0..<20 {
      let text = String(decoding: body(&random), as: UTF8.self)
      let mutated = mutate(try JSONValue(parsing: text), &random).text
      readAll(Data(mutated.utf8))
      try check(mutated) { data in
        try ModifyRecordsRequest(parsing: data, context: context).body(context: context)
      }
      try check(mutated) { data in
        try QueryRecordsRequest(parsing: data, context: context).body(context: context)
      }
      try check(mutated) { data in
        try ModifySubscriptionsRequest(parsing: data, context: context).body(context: context)
      }
      try check(mutated) { data in
        try ZoneChangesRequest(parsing: data, context: context).body(context: context)
      }
    }
  }

  /// Reading what was written of a request writes the same bytes again.
  private func check(_ text: String, _ rewrite: (Data) throws -> Data) throws {
    guard let written = try? rewrite(Data(text.utf8)) else { return }
    #expect(try rewrite(written) == written, "\(text)")
  }

  private func body(_ random: inout RandomModel) -> Data {
    switch Int.random(in: 0..<10, using: &random.generator) {
    case 8:
      return ZoneChangesRequest(zones: [random.recordChangesRequest()]).body(context: context)
    case 9:
      return ZoneChangesResponse(zones: [.success(random.recordChangesResponse())])
        .body(context: context)
    case 0, 1, 2:
      return ModifyRecordsRequest(
        operations: [random.recordOperation(), random.recordOperation()], isAtomic: true,
        desiredKeys: ["a"]
      ).body(context: context)
    case 3, 4:
      return ModifySubscriptionsRequest(operations: [
        random.subscriptionOperation(), random.subscriptionOperation(),
      ]).body(context: context)
    case 5:
      return QueryRecordsRequest(query: random.query(), zoneID: random.zoneID(), resultsLimit: 5)
        .body(context: context)
    case 6:
      return ModifyZonesRequest(operations: [random.zoneOperation()]).body(context: context)
    default:
      return RecordsResponse(records: [
        .success(.record(random.record())),
        .failure(FailedItem(.unknown, random.serviceError())),
      ]).body(context: context)
    }
  }

  /// Reads the bytes as each kind of message; what comes of it does not matter.
  private func readAll(_ body: Data) {
    for context in [context, serverContext, MessageContext(ownerNaming: .implied)] {
      _ = try? ModifyRecordsRequest(parsing: body, context: context)
      _ = try? LookupRecordsRequest(parsing: body, context: context)
      _ = try? QueryRecordsRequest(parsing: body, context: context)
      _ = try? RecordsResponse(parsing: body, context: context)
      _ = try? ModifySubscriptionsRequest(parsing: body, context: context)
      _ = try? LookupSubscriptionsRequest(parsing: body, context: context)
      _ = try? SubscriptionsResponse(parsing: body, context: context)
      _ = try? ModifyZonesRequest(parsing: body, context: context)
      _ = try? LookupZonesRequest(parsing: body, context: context)
      _ = try? ZonesResponse(parsing: body, context: context)
      _ = try? ZoneChangesRequest(parsing: body, context: context)
      _ = try? ZoneChangesResponse(parsing: body, context: context)
      _ = try? RecordChangesRequest(parsing: body, context: context)
      _ = try? RecordChangesResponse(parsing: body, context: context)
      _ = try? DatabaseChangesRequest<CurrentDatabaseChanges>(parsing: body, context: context)
      _ = try? DatabaseChangesResponse<CurrentDatabaseChanges>(parsing: body, context: context)
    }
    _ = try? TokenRequest(parsing: body)
    _ = try? TokenResponse(parsing: body)
    _ = try? UserResponse(parsing: body)
    _ = (try? JSONValue(parsing: body)).flatMap { ServiceError(body: $0) }
  }

  private func damage(_ body: inout [UInt8], _ generator: inout SeededGenerator) {
    guard !body.isEmpty else { return }
    let place = Int.random(in: body.indices, using: &generator)
    let end = min(body.count, place + Int.random(in: 1...20, using: &generator))
    switch Int.random(in: 0..<5, using: &generator) {
    case 0: body[place] = UInt8.random(in: 0...255, using: &generator)
    case 1: body[place] = generator.pick(Array("{}[]\",:0-.eEtfn\\".utf8))
    case 2: body.removeSubrange(place..<end)
    case 3: body.insert(contentsOf: body[place..<end], at: place)
    default: body.removeSubrange(place...)
    }
  }

  /// The value with one part of it, wherever it stands, replaced, renamed or taken out.
  private func mutate(_ value: JSONValue, _ random: inout RandomModel) -> JSONValue {
    let goesDeeper = Int.random(in: 0..<6, using: &random.generator) > 0
    switch value {
    case .object(var members) where goesDeeper && !members.isEmpty:
      let name = random.generator.pick(members.keys.sorted())
      switch Int.random(in: 0..<8, using: &random.generator) {
      case 0: members[name] = nil
      case 1: members[name + "s"] = members.removeValue(forKey: name)
      default: members[name] = mutate(members[name] ?? .null, &random)
      }
      return .object(members)
    case .array(var elements) where goesDeeper && !elements.isEmpty:
      let place = Int.random(in: elements.indices, using: &random.generator)
      switch Int.random(in: 0..<8, using: &random.generator) {
      case 0: elements.remove(at: place)
      case 1: elements.append(elements[place])
      default: elements[place] = mutate(elements[place], &random)
      }
      return .array(elements)
    default:
      return random.generator.pick([
        .null, true, 0, 1, -1, .int(.max), 1.5, 1e300, "", "x", "STRING", "nan", [], [:], [[]],
        ["recordName": "r"], ["latitude": 100, "longitude": 0], ["value": [1, 2.5]], [value],
        .string(random.fieldText()),
      ])
    }
  }
}
