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

  @Test(
    "A subscription cannot have values of an encrypted field sent",
    arguments: [
      "additionalFields", "alertLocalizationArgs", "titleLocalizationArgs",
      "subtitleLocalizationArgs",
    ])
  func notifications(member: String) async throws {
    try await withService { service in
      let saved = try await service.modify(
        Service.operation(
          "create", "n",
          #""secret": {"value": "b", "type": "STRING", "isEncrypted": true}, "open": {"value": "a"}"#
        ), in: "private")
      #expect(saved.outcomes == ["ok"], "\(saved.json)")
      for (field, outcome) in [("secret", "BAD_REQUEST"), ("open", "ok"), ("new", "ok")] {
        let answer = try await service.subscribe(
          """
          {"subscriptionID": "s", "subscriptionType": "query", "firesOn": ["create"],
           "query": {"recordType": "Note"}, "notificationInfo": {"\(member)": ["\(field)"]}}
          """, in: "private")
        #expect(answer.outcome == outcome, "\(answer)")
        if field == "secret" { #expect(answer.reason.contains("'secret' in ")) }
      }
    }
  }
}
