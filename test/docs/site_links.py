"""The site that tools/docs.sh writes: its links lead to pages and places that exist, it loads nothing from a network, and its search works in pages
that are opened as files."""

import html.parser
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import pages

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

if not shutil.which("mkdocs") or not pathlib.Path("/usr/share/mkdocs/themes/material").is_dir():
    print("skipped: found no MkDocs with the theme Material, which the site needs: apt install mkdocs mkdocs-material")
    sys.exit(77)


class Page(html.parser.HTMLParser):
    """Links, places that links lead to, and what the page loads."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places, self.loads = [], set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places |= {attributes[key] for key in ("id", "name") if attributes.get(key)}
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        self.loads += [attributes[key] for key in ("src", "href") if key in attributes and tag in ("script", "link", "img", "iframe")]


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        done = subprocess.run([pages.ROOT / "tools/docs.sh", cls.folder], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        # 404.html is for servers, whose root is not known.
        cls.pages = {path: Page(path) for path in cls.folder.rglob("*.html") if path.name != "404.html"}

    def test_a_folder_with_other_files_is_left_alone(self):
        done = subprocess.run([pages.ROOT / "tools/docs.sh", pages.ROOT / "docs"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("name another folder", done.stderr)

    def test_every_page_for_users_is_there(self):
        for page in pages.PAGES:
            name = page.relative_to(pages.ROOT).with_suffix(".html")
            self.assertIn(self.folder / (name.parent / "index.html" if page.name == "README.md" else name), self.pages)

    def test_links_lead_to_files_and_places_that_exist(self):
        for path, page in self.pages.items():
            for link in page.links:
                parts = urllib.parse.urlsplit(link)
                if parts.scheme or parts.netloc:
                    continue
                target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
                target = target / "index.html" if target.is_dir() else target
                with self.subTest(f"{path.relative_to(self.folder)}: {link}"):
                    self.assertTrue(target.is_file())
                    if parts.fragment and target in self.pages:
                        self.assertIn(urllib.parse.unquote(parts.fragment), self.pages[target].places)

    def test_nothing_comes_from_a_network(self):
        for path, page in self.pages.items():
            for load in page.loads:
                self.assertFalse(urllib.parse.urlsplit(load).netloc, f"{path.relative_to(self.folder)} loads {load}")

    @unittest.skipUnless(BROWSER, "no Chromium is installed")
    def test_search_finds_words_in_pages_that_are_opened_as_files(self):
        address = f"{(self.folder / 'docs/howto/index.html').as_uri()}?q=zigzag"
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom", address]
        drawn = subprocess.run(command, capture_output=True, text=True, timeout=300).stdout
        self.assertRegex(drawn, r'train-on-long-sequences.html" class="md-search-result__link')


if __name__ == "__main__":
    unittest.main(verbosity=2)
