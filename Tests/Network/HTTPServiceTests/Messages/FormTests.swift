import Foundation
import HTTPService
import Testing

struct FormTests {
  private func fields(_ body: String, _ type: String?) -> [String] {
    let request = HTTPRequest(
      method: "POST", target: "/form", headers: type.map { [("content-type", $0)] } ?? [],
      body: Data(body.utf8))
    return request.formFields.map { "\($0.name)=\($0.value)" }
  }

  @Test("the fields of a form are read in order, decoded")
  func decoded() {
    let type = "application/x-www-form-urlencoded"
    #expect(
      fields("a=1&b=x+y%26z&a=%C3%A9&empty=&flag", type)
        == ["a=1", "b=x y&z", "a=\u{E9}", "empty=", "flag="])
    #expect(fields("a=1", type.uppercased() + "; charset=UTF-8") == ["a=1"])
    #expect(fields("", type).isEmpty)
  }

  @Test("a body of another type is no form", arguments: ["text/plain", "application/json", nil])
  func others(_ type: String?) {
    #expect(fields("a=1", type).isEmpty)
  }
}
