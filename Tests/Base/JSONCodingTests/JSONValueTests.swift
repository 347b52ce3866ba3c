import JSONCoding
import Testing

struct JSONValueTests {
  @Test("A member that is missing or null is nil, and so are members of other kinds")
  func subscripts() {
    let value: JSONValue = ["a": 1, "b": .null]
    #expect(value["a"] == 1)
    #expect(value["b"] == nil)
    #expect(value["c"] == nil)
    #expect(JSONValue.array([1])["a"] == nil)
    #expect(value["a"]?["b"] == nil)
  }

  @Test("Numbers are asked for as either type, integers only when whole and in range")
  func numbers() {
    #expect(JSONValue.int(5).double == 5)
    #expect(JSONValue.double(5).int == 5)
    #expect(JSONValue.double(5.5).int == nil)
    #expect(JSONValue.double(1e300).int == nil)
    #expect(JSONValue.double(.nan).int == nil)
    #expect(JSONValue.string("5").int == nil)
    #expect(JSONValue.bool(true).int == nil)
    #expect(JSONValue.bool(true).double == nil)
    #expect(JSONValue.int(5) != .double(5))
  }

  @Test("0 and 1 are taken for booleans, other numbers are not")
  func booleans() {
    #expect(JSONValue.int(0).bool == false)
    #expect(JSONValue.int(1).bool == true)
    #expect(JSONValue.int(2).bool == nil)
    #expect(JSONValue.double(1).bool == nil)
    #expect(JSONValue.string("true").bool == nil)
  }

  @Test("Each kind has its word and its accessor")
  func kinds() {
    let values: [JSONValue] = [.null, true, 1, 1.5, "a", [], [:]]
    #expect(
      values.map(\.kind) == [
        "null", "a boolean", "a number", "a number", "a string", "an array", "an object",
      ])
    #expect(values.map { $0.string != nil } == [false, false, false, false, true, false, false])
    #expect(values.map { $0.array != nil } == [false, false, false, false, false, true, false])
    #expect(values.map { $0.object != nil } == [false, false, false, false, false, false, true])
  }
}
