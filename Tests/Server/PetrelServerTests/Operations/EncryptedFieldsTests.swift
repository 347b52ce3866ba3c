import JSONCoding
import Testing

struct EncryptedFieldsTests {
  @Test("The mark is read and written beside value and type")
  func mark() async throws {
    try await withService { service in
      let fields = #"""
        "secret": {"value": "b", "type": "STRING", "isEncrypted": true}, "open": {"value": "a"}
        """#
      let saved = try await service.modify(
        Service.operation("create", "n", fields), in: "private")
      #expect(saved.outcomes == ["ok"], "\(saved.json)")
      let read = try await service.lookup("n", in: "private")
      for answer in [saved, read] {
        let fields = try #require(answer[0]["fields"])
        #expect(fields["secret"]?["isEncrypted"] == .bool(true))
        #expect(fields["secret"]?["value"] == .string("b"))
        #expect(fields["open"]?["isEncrypted"] == nil)
      }
      let open = try await service.modify(Service.operation("create", "n", fields))
      #expect(open.outcomes == ["BAD_REQUEST"] && open[0].reason.contains("'secret'"))
    }
  }
}
