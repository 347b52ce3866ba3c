import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Testing

@testable import Storage

extension RecordStoreConformance {
  struct Model {
    /// Random operations on the store and on a dictionary, then random queries on both.
    @Test(
      "random operations and queries agree with a dictionary", arguments: StoreEngine.allCases,
      Seeds.some(2))
    func random(_ engine: StoreEngine, _ seed: Int) async throws {
      try await engine.withStore { test in
        var random = SeededGenerator(seed: seed)
        let zones: [ZoneID] = [.default, try await test.makeZone("z")]
        var model: [RecordID: Record] = [:]
        for round in 0..<120 {
          let operations = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            randomOperation(in: zones, model: model, using: &random)
          }
          let isAtomic = Bool.random(using: &random)
          let outcomes = try await test.modify(
            operations, in: test.privateID, atomic: isAtomic, at: Int64(round / 3))
          for (operation, outcome) in zip(operations, outcomes) {
            switch outcome {
            case .saved(let record):
              checkSave(of: record, by: operation, over: model[operation.recordID])
              model[operation.recordID] = record
            case .deleted(let recordID): model[recordID] = nil
            case .failed: break
            }
          }
        }
        let ids = Array(model.keys)
        #expect(
          try await test.store.records.records(ids, in: test.privateID) == ids.map { model[$0] })
        for number in 0..<250 {
          let query = randomQuery(using: &random)
          let zone = [nil, zones[0], zones[1]].randomElement(using: &random)!
          let size = [1, 2, 7, 50].randomElement(using: &random)!
          let found = try await allPages(of: query, zone: zone, size: size, in: test)
          let expected = model.values.filter {
            query.matches($0) && (zone == nil || $0.recordID.zoneID == zone)
          }
          let comment: Comment = "seed \(seed), query \(number): \(query), pages of \(size)"
          #expect(found.count == expected.count, comment)
          #expect(Set(found) == Set(expected), comment)
          #expect(isSorted(found, by: query.sortKeys), comment)
        }
      }
    }

    private func checkSave(
      of record: Record, by operation: RecordOperation, over current: Record?
    ) {
      let isReplace = operation.kind == .replace || operation.kind == .forceReplace
      var fields = isReplace ? [:] : current?.fields ?? [:]
      for (name, value) in operation.fields { fields[name] = value }
      #expect(record.fields == fields)
      #expect(record.created == (current ?? record).created)
    }

    private func allPages(
      of query: Query, zone: ZoneID?, size: Int, in test: TestStore
    ) async throws -> [Record] {
      var search = RecordQuery(query: query, zoneID: zone, limit: size)
      var found: [Record] = []
      repeat {
        let page = try await test.store.records.records(matching: search, in: test.privateID)
        #expect(page.continuation == nil || page.records.count == size)
        found += page.records
        search.continuation = page.continuation
      } while search.continuation != nil
      return found
    }

    private func isSorted(_ records: [Record], by sortKeys: [SortKey]) -> Bool {
      zip(records, records.dropFirst()).allSatisfy { left, right in
        for sortKey in sortKeys {
          switch (
            RecordOrder.value(of: left, for: sortKey), RecordOrder.value(of: right, for: sortKey)
          )
          {
          case (nil, nil): continue
          case (_, nil): return true
          case (nil, _): return false
          case (let leftValue?, let rightValue?):
            let order = leftValue.order(to: rightValue)
            if order == .equal { continue }
            return (order == .less) == sortKey.ascending
          }
        }
        return true
      }
    }

    // MARK: Random values

    private static let texts =
      ["", "a", "ab", "abc", "b", "é", "Ab", "\u{1F426}"]
      + ["1", "2", ""].map { String(repeating: "long ", count: 30) + $0 }

    private func randomValue(
      of name: String, using random: inout SeededGenerator
    ) -> RecordValue {
      switch name {
      case "text": .string(Self.texts.randomElement(using: &random)!)
      case "count":
        .int64(
          [.min, -1, 0, 1, 2, 9_007_199_254_740_993, .max].randomElement(using: &random)!)
      case "size":
        .double(
          [-Double.infinity, -1.5, -0.0, 0, 1, 2.5, 1e300].randomElement(using: &random)!)
      case "when": .timestamp(TestStore.time(Int64.random(in: -2...2, using: &random)))
      case "place": .location(randomLocation(using: &random))
      case "target":
        .reference(Reference(recordName: "r\(Int.random(in: 0..<5, using: &random))"))
      case "tags":
        .list(
          of: .string,
          (0..<Int.random(in: 0...3, using: &random)).map { _ in
            .string(Self.texts.randomElement(using: &random)!)
          })
      default:
        .list(
          of: .int64,
          (0..<Int.random(in: 0...3, using: &random)).map { _ in
            .int64(Int64.random(in: -2...2, using: &random))
          })
      }
    }

    private static let names = [
      "text", "count", "size", "when", "place", "target", "tags", "numbers",
    ]

    private func randomLocation(using random: inout SeededGenerator) -> Location {
      Location(
        latitude: [-90, -89.95, -17, 0, 45.05, 89.9, 90].randomElement(using: &random)!,
        longitude: [-180, -179.9, -0.1, 0, 120.5, 179.9, 180].randomElement(using: &random)!)
    }

    private func randomOperation(
      in zones: [ZoneID], model: [RecordID: Record], using random: inout SeededGenerator
    ) -> RecordOperation {
      let recordID = RecordID(
        recordName: "r\(Int.random(in: 0..<40, using: &random))",
        zoneID: zones.randomElement(using: &random)!)
      var kinds = RecordOperation.Kind.allCases
      kinds += [.forceUpdate, .forceUpdate, .forceReplace, .create]
      var fields: RecordFields<RecordValue?> = [:]
      for name in Self.names where Int.random(in: 0..<3, using: &random) > 0 {
        let value = randomValue(of: name, using: &random)
        fields[name] = .some(Int.random(in: 0..<8, using: &random) == 0 ? nil : value)
      }
      let tag = Int.random(in: 0..<4, using: &random) == 0 ? "0" : model[recordID]?.recordChangeTag
      return RecordOperation(
        kind: kinds.randomElement(using: &random)!, recordID: recordID,
        recordType: model[recordID]?.recordType ?? ["Note", "Note", "Other"].randomElement(
          using: &random)!,
        recordChangeTag: tag, fields: fields)
    }

    private func randomQuery(using random: inout SeededGenerator) -> Query {
      let filters = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        randomFilter(using: &random)
      }
      let sortable: [FieldKey] =
        ["text", "count", "size", "when"].map { .field($0) }
        + [.system(.createdTimestamp), .system(.modifiedTimestamp), .system(.recordName)]
      let sortKeys = (0..<Int.random(in: 0...2, using: &random)).map { _ in
        Int.random(in: 0..<6, using: &random) == 0
          ? SortKey(
            .field("place"), ascending: Bool.random(using: &random),
            relativeLocation: randomLocation(using: &random))
          : SortKey(
            sortable.randomElement(using: &random)!, ascending: Bool.random(using: &random))
      }
      return Query(recordType: "Note", filters: filters, sortKeys: sortKeys)
    }

    private func randomFilter(using random: inout SeededGenerator) -> Filter {
      func list(_ name: String, _ element: ValueType) -> RecordValue {
        .list(
          of: element,
          (0..<Int.random(in: 0...3, using: &random)).map { _ in
            randomValue(of: name, using: &random)
          })
      }
      func pick(_ comparators: [CloudKitModel.Comparator]) -> CloudKitModel.Comparator {
        comparators.randomElement(using: &random)!
      }
      let ranges: [CloudKitModel.Comparator] = [
        .equals, .notEquals, .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals,
      ]
      let members: [CloudKitModel.Comparator] = [
        .listContainsAll, .listContainsAny, .notListContainsAll, .notListContainsAny,
      ]
      switch Int.random(in: 0..<12, using: &random) {
      case 0:
        return Filter(
          .field("text"), pick(ranges + [.beginsWith, .notBeginsWith]),
          randomValue(of: "text", using: &random),
          options: Int.random(in: 0..<5, using: &random) == 0 ? .caseInsensitive : [])
      case 1: return Filter(.field("text"), pick([.isIn, .notIn]), list("text", .string))
      case 2, 3:
        let name = ["count", "size"].randomElement(using: &random)!
        let value = ["count", "size"].randomElement(using: &random)!
        return Filter(.field(name), pick(ranges), randomValue(of: value, using: &random))
      case 4: return Filter(.field("when"), pick(ranges), randomValue(of: "when", using: &random))
      case 5:
        return Filter(
          .field("place"), .near, .location(randomLocation(using: &random)),
          distance: [0, 20_000, 3_000_000, 2e7].randomElement(using: &random)!)
      case 6:
        return Filter(
          .field("target"), pick([.equals, .notEquals]), randomValue(of: "target", using: &random))
      case 7: return Filter(.field("tags"), pick(members), list("text", .string))
      case 8:
        return Filter(
          .field("tags"),
          pick([
            .listContains, .notListContains, .listMemberBeginsWith, .notListMemberBeginsWith,
          ]), randomValue(of: "text", using: &random))
      case 9:
        return Filter(
          .field("numbers"), pick([.listContains, .notListContains]),
          .double(Double(Int.random(in: -4...4, using: &random)) / 2))
      case 10:
        return Filter(
          .system([.createdTimestamp, .modifiedTimestamp].randomElement(using: &random)!),
          pick(ranges), .timestamp(TestStore.time(Int64.random(in: 0...80, using: &random))))
      default:
        return Filter(
          .field(Self.names.randomElement(using: &random)!), pick([.equals, .notEquals]), nil)
      }
    }
  }
}
