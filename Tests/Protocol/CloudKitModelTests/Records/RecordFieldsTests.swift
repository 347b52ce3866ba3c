import CloudKitModel
import PropertyTesting
import Testing

struct RecordFieldsTests {
  @Test("behave as a dictionary does, and stand in the order of their names")
  func model() {
    var random = SystemRandomNumberGenerator()
    let names = ["a", "b", "B", "magnitude", "place", "z", "é", "e\u{301}"]
    for _ in 0..<200 {
      var fields = RecordFields<Int?>()
      var model: [String: Int?] = [:]
      for step in 0..<30 {
        let name = names.randomElement(using: &random) ?? "a"
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          fields.removeValue(forKey: name)
          model.removeValue(forKey: name)
        case 1:
          fields.updateValue(nil, forKey: name)
          model.updateValue(nil, forKey: name)
        case 2:
          fields[name] = nil
          model[name] = nil
        default:
          fields[name] = step
          model[name] = step
        }
        #expect(fields.keys == model.keys.sorted())
        #expect(names.allSatisfy { fields[$0] == model[$0] })
        #expect(names.allSatisfy { (fields.index(forKey: $0) == nil) == (model[$0] == nil) })
      }
      #expect(fields == RecordFields(model.map { ($0, $1) }))
      #expect(fields.hashValue == RecordFields(model.map { ($0, $1) }).hashValue)
      #expect(fields.compactMapValues { $0 }.count == model.values.count { $0 != nil })
      #expect(fields.mapValues { $0.map { $0 * 2 } }.keys == fields.keys)
      #expect(fields.filter { $0.value != nil }.keys == fields.compactMapValues { $0 }.keys)
    }
  }

  @Test("of a name that is given twice the last value counts")
  func repeatedName() {
    let fields: RecordFields<Int> = ["b": 1, "a": 2, "b": 3]
    #expect(fields.map(\.key) == ["a", "b"])
    #expect(Array(fields.values) == [2, 3])
    #expect(fields.description == "[a: 2, b: 3]")
  }

  @Test("of names in any order the first value of each counts", arguments: Seeds.some(50))
  func unordered(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    let names = ["a", "b", "B", "magnitude", "place", "z"]
    let elements = (0..<generator.pick([0, 1, 2, 5, 20])).map {
      (key: generator.pick(names), value: $0)
    }
    let model = Dictionary(
      elements.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    let fields = RecordFields(firstOf: elements)
    #expect(fields.keys == model.keys.sorted())
    #expect(names.allSatisfy { fields[$0] == model[$0] })
    #expect(RecordFields(firstOf: Array(fields)) == fields)
  }
}
