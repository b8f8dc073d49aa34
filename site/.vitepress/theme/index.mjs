import DefaultTheme from 'vitepress/theme';
import HeroId from './HeroId.vue';
import IdChooser from './IdChooser.vue';
import Playground from './Playground.vue';
import StoreSwitch from './StoreSwitch.vue';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    for (const [name, component] of Object.entries({ HeroId, IdChooser, Playground, StoreSwitch }))
      app.component(name, component);
  },
};
