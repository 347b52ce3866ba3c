import Testing

@testable import Configuration

struct AppLinkTests {
  @Test(
    "the places of the link are filled with escaped texts",
    arguments: [
      ("notes://share/{guid}", "notes://share/a-b_1"), ("notes:{guid}", "notes:a-b_1"),
      ("notes://{guid}", "notes://a-b_1"),
      (
        "https://app.example.com/open?link={url}&id={guid}",
        "https://app.example.com/open?link=https%3A%2F%2Fx%2Fshare%2Fa-b_1&id=a-b_1"
      ),
      ("https://app.example.com:8443/#{guid}", "https://app.example.com:8443/#a-b_1"),
      ("http://localhost:3000/{guid}{guid}", "http://localhost:3000/a-b_1a-b_1"),
      ("HTTPS://App.example.com/", "HTTPS://App.example.com/"),
    ])
  func fills(template: String, url: String) throws {
    let link = AppLink(template)
    try #require(link != nil)
    #expect(link?.url(shortGUID: "a-b_1", shareURL: "https://x/share/a-b_1") == url)
  }

  @Test("a text cannot leave its place")
  func escapes() {
    let link = AppLink("notes://x?a={guid}&b={url}")
    #expect(
      link?.url(shortGUID: "{url}&\"<é", shareURL: "{guid}#")
        == "notes://x?a=%7Burl%7D%26%22%3C%C3%A9&b=%7Bguid%7D%23")
  }

  @Test(
    "other texts are refused",
    arguments: [
      "", "notes", "/open", "//app.example.com/", "{guid}", "{url}", "{guid}://x", "notes {guid}:x",
      "javascript:alert('{guid}')", "JavaScript:x", "data:text/html,{guid}", "file:///{guid}",
      "blob:x", "https://{guid}.example.com/", "https://app.example.com{guid}",
      "https://app.example.com:{guid}/", "https://{url}", "https://me@app.example.com/",
      "http://app.example.com/{guid}", "https:///{guid}", "https:{guid}", "notes://x/{name}",
      "notes://x/{guid", "notes://x/\"{guid}", "notes://x/é", "notes://x\r\n/{guid}",
    ])
  func refuses(template: String) {
    #expect(AppLink(template) == nil)
  }
}
